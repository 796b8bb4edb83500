//! What an import is measured against: `sqlite3` reading the same rows, unpacked, into one table with an index.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::cleanup::Workplace;
use crate::input::open;
use crate::process::{create, run, tool};

const PLAIN: &str = "plain.csv";
const COLUMNS: [&str; 28] = [
    "EIN",
    "NAME",
    "ICO",
    "STREET",
    "CITY",
    "STATE",
    "ZIP",
    "GROUP",
    "SUBSECTION",
    "AFFILIATION",
    "CLASSIFICATION",
    "RULING",
    "DEDUCTIBILITY",
    "FOUNDATION",
    "ACTIVITY",
    "ORGANIZATION",
    "STATUS",
    "TAX_PERIOD",
    "ASSET_CD",
    "INCOME_CD",
    "FILING_REQ_CD",
    "PF_FILING_REQ_CD",
    "ACCT_PD",
    "ASSET_AMT",
    "INCOME_AMT",
    "REVENUE_AMT",
    "NTEE_CD",
    "SORT_NAME",
];

/// Time of the import alone; making the empty table and counting its rows stand outside.
pub fn sqlite_import(workplace: &Workplace) -> Result<(Duration, u64)> {
    let folder = workplace.fresh_folder("baseline")?;
    let sqlite = |script: &str| {
        run(
            tool("sqlite3", "sqlite3")?
                .current_dir(&folder)
                .args(["-bail", "bmf.db", script]),
            workplace,
        )
    };
    let columns = COLUMNS.map(|name| format!("\"{name}\" text")).join(", ");
    sqlite(&format!(
        "create table bmf ({columns}); create index bmf_ein on bmf (EIN);"
    ))?;
    let finished = sqlite(&format!(".import --csv --skip 1 ../{PLAIN} bmf"))?;
    let counted = sqlite("select count(*) from bmf;")?.output;
    let rows = counted
        .trim()
        .parse()
        .with_context(|| format!("sqlite3 counted {counted:?} rows"))?;
    ensure!(rows > 0, "the file has no rows");
    std::fs::remove_dir_all(folder)?;
    Ok((finished.elapsed, rows))
}

/// Puts the rows where `sqlite_import` reads them.
pub fn unpack(file: &Path, workplace: &Workplace) -> Result<()> {
    eprintln!("unpacking {}", file.display());
    let mut writer = BufWriter::with_capacity(1 << 20, create(&workplace.path(PLAIN))?);
    io::copy(&mut open(file)?, &mut writer).with_context(|| format!("cannot unpack {}", file.display()))?;
    writer.flush()?;
    Ok(())
}
