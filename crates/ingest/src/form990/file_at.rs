//! A reader with a position of its own in a file that several threads read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Reads a shared file from its own position.
#[derive(Clone, Debug)]
pub(super) struct FileAt {
    file: Arc<File>,
    length: u64,
    position: u64,
}

impl FileAt {
    pub(super) fn new(file: File) -> io::Result<FileAt> {
        Ok(FileAt {
            length: file.metadata()?.len(),
            file: Arc::new(file),
            position: 0,
        })
    }

    /// Returns the length that the file had when it was opened.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Returns a reader at another position of the same file.
    pub(super) fn at(&self, position: u64) -> FileAt {
        FileAt {
            position,
            ..self.clone()
        }
    }
}

impl Read for FileAt {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for FileAt {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.position)
    }
}
