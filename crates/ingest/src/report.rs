//! The report file of an import, which lists the rejected lines or returns.

use crate::files::lines::RejectedLine;
use jiff::Timestamp;
use platform::data_folder;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The rejected lines of an import, each with its file. Above a limit, lines are only counted.
#[derive(Debug, Default)]
pub struct RejectedLines {
    /// The file, and the line or member with the reason.
    list: Vec<(String, String)>,
    count: u64,
}

impl RejectedLines {
    const MAX_LISTED: usize = 100_000;

    pub fn add(&mut self, file: &str, line: RejectedLine) {
        self.push(file, move || line.to_string());
    }

    /// Adds a member of an archive, or a whole file if `member` is empty or the name of the file.
    pub(crate) fn add_member(&mut self, file: &str, member: &str, reason: &str) {
        self.push(file, || {
            if member.is_empty() || file.ends_with(member) {
                reason.to_owned()
            } else {
                format!("{member}: {reason}")
            }
        });
    }

    fn push(&mut self, file: &str, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.list.len() < Self::MAX_LISTED {
            self.list.push((file.to_owned(), text()));
        }
    }

    /// Returns the number of rejected lines, listed or not.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the first rejected line, with its file.
    pub fn first(&self) -> Option<&(String, String)> {
        self.list.first()
    }

    /// Writes the report into the folder `reports`. Returns its path, or `None` if no line was rejected.
    pub fn write(&self, data: &Path, kind: &str, now: i64) -> io::Result<Option<PathBuf>> {
        if self.list.is_empty() {
            return Ok(None);
        }
        let folder = data.join("reports");
        data_folder::create_folder(&folder)?;
        let time = Timestamp::from_millisecond(now)
            .unwrap_or_default()
            .strftime("%Y%m%dT%H%M%S%3fZ")
            .to_string();
        let path = folder.join(format!("import-{kind}-{time}.txt"));
        let mut out = BufWriter::new(data_folder::open_file(&path)?);
        for (file, line) in &self.list {
            writeln!(out, "{file}: {line}")?;
        }
        if self.count > self.list.len() as u64 {
            writeln!(out, "and {} more", self.count - self.list.len() as u64)?;
        }
        out.flush()?;
        Ok(Some(path))
    }
}
