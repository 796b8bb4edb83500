//! The baseline of the import benchmark: `sqlite3` reading the same rows, uncompressed, into one indexed
//! table.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::cleanup::ScratchDir;
use crate::input::open;
use crate::process::{create, run, tool};

const UNCOMPRESSED_FILE: &str = "uncompressed.csv";
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

/// Imports the file written by [`decompress`] and returns the time and the number of rows.
///
/// Creating the empty table and counting its rows are not part of the time.
pub(crate) fn sqlite_import(scratch: &ScratchDir) -> Result<(Duration, u64)> {
    let folder = scratch.create_empty_dir("baseline")?;
    let sqlite = |script: &str| {
        run(
            tool("sqlite3", "sqlite3")?
                .current_dir(&folder)
                .args(["-bail", "bmf.db", script]),
            scratch,
        )
    };
    let columns = COLUMNS.map(|name| format!("\"{name}\" text")).join(", ");
    sqlite(&format!(
        "create table bmf ({columns}); create index bmf_ein on bmf (EIN);"
    ))?;
    let import = sqlite(&format!(".import --csv --skip 1 ../{UNCOMPRESSED_FILE} bmf"))?;
    let count = sqlite("select count(*) from bmf;")?.stdout;
    let rows = count
        .trim()
        .parse()
        .with_context(|| format!("sqlite3 printed {count:?} as the number of rows"))?;
    ensure!(rows > 0, "the file has no rows");
    std::fs::remove_dir_all(folder)?;
    Ok((import.elapsed, rows))
}

/// Writes the rows where [`sqlite_import`] reads them.
pub(crate) fn decompress(file: &Path, scratch: &ScratchDir) -> Result<()> {
    eprintln!("decompressing {}", file.display());
    let mut writer = BufWriter::with_capacity(1 << 20, create(&scratch.path(UNCOMPRESSED_FILE))?);
    io::copy(&mut open(file)?, &mut writer)
        .with_context(|| format!("cannot decompress {}", file.display()))?;
    writer.flush()?;
    Ok(())
}
