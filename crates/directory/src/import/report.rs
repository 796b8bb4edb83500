//! The report file: which lines an import refused, and why.

use super::lines::RejectedLine;
use jiff::Timestamp;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The lines that were refused, with the file of each. Very many are counted but not listed.
#[derive(Debug, Default)]
pub struct RejectedLines {
    list: Vec<(String, RejectedLine)>,
    count: u64,
}

impl RejectedLines {
    const MAX_LISTED: usize = 100_000;

    pub fn add(&mut self, file: &str, refused: RejectedLine) {
        self.count += 1;
        if self.list.len() < Self::MAX_LISTED {
            self.list.push((file.to_owned(), refused));
        }
    }

    /// The number of refused lines, listed or not.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first refused line, with its file.
    pub fn first(&self) -> Option<&(String, RejectedLine)> {
        self.list.first()
    }

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
