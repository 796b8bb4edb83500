//! The report file: which lines an import refused, and why.

use super::Refusals;
use jiff::Timestamp;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

impl Refusals {
    /// Writes the report into the folder of reports. Nothing where no line was refused.
    pub fn write(&self, data: &Path, kind: &str, now: i64) -> io::Result<Option<PathBuf>> {
        if self.list.is_empty() {
            return Ok(None);
        }
        let folder = data.join("reports");
        fs::create_dir_all(&folder)?;
        let time = Timestamp::from_millisecond(now)
            .unwrap_or_default()
            .strftime("%Y%m%dT%H%M%S%3fZ")
            .to_string();
        let path = folder.join(format!("import-{kind}-{time}.txt"));
        let mut out = BufWriter::new(fs::File::create(&path)?);
        for (file, refused) in &self.list {
            writeln!(out, "{file}: {refused}")?;
        }
        if self.count > self.list.len() as u64 {
            writeln!(out, "and {} more", self.count - self.list.len() as u64)?;
        }
        out.flush()?;
        Ok(Some(path))
    }
}
