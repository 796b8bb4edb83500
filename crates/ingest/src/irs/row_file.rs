//! Holds new and changed rows in a temporary file until all files are read.
//!
//! Nothing is written to the store before that, and 1.8 million rows would need too much memory.

use directory::nonprofits::ein::Ein;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// A row to write to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub ein: Ein,
    pub digest: i64,
    /// See [`Filing`](directory::nonprofits::filing::Filing). It contains no line break.
    pub filed: String,
}

/// Writes rows to an unnamed temporary file, which is removed when the process ends.
pub(super) struct RowFileWriter {
    out: BufWriter<File>,
    offset: u64,
    count: u64,
}

/// Reads rows from the temporary file, in order or by offset.
pub(super) struct RowFile {
    file: File,
    pub count: u64,
}

impl RowFileWriter {
    pub(super) fn new(folder: &Path) -> io::Result<RowFileWriter> {
        Ok(RowFileWriter {
            out: BufWriter::with_capacity(1 << 20, tempfile::tempfile_in(folder)?),
            offset: 0,
            count: 0,
        })
    }

    /// Appends a row and returns its offset.
    pub(super) fn push(&mut self, ein: Ein, digest: i64, filed: &str) -> io::Result<u64> {
        let offset = self.offset;
        self.out.write_all(&ein.value().to_le_bytes())?;
        self.out.write_all(&digest.to_le_bytes())?;
        self.out.write_all(filed.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.offset += 12 + filed.len() as u64 + 1;
        self.count += 1;
        Ok(offset)
    }

    pub(super) fn finish(self) -> io::Result<RowFile> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(RowFile {
            file,
            count: self.count,
        })
    }
}

impl RowFile {
    /// Reads the row at an offset.
    pub(crate) fn row_at(&mut self, offset: u64) -> io::Result<Row> {
        self.file.seek(SeekFrom::Start(offset))?;
        read_row(&mut BufReader::with_capacity(512, &mut self.file))
    }

    /// Reads all rows in order.
    pub(super) fn rows(mut self) -> io::Result<impl Iterator<Item = io::Result<Row>>> {
        self.file.rewind()?;
        let mut from = BufReader::with_capacity(1 << 20, self.file);
        Ok((0..self.count).map(move |_| read_row(&mut from)))
    }
}

fn read_row(from: &mut impl BufRead) -> io::Result<Row> {
    let mut ein = [0; 4];
    let mut digest = [0; 8];
    from.read_exact(&mut ein)?;
    from.read_exact(&mut digest)?;
    let mut filed = String::with_capacity(128);
    from.read_line(&mut filed)?;
    filed.pop();
    Ok(Row {
        ein: Ein::new(u32::from_le_bytes(ein))
            .ok_or_else(|| io::Error::other("a row in the temporary file is damaged"))?,
        digest: i64::from_le_bytes(digest),
        filed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_in_order_and_by_offset() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = RowFileWriter::new(folder.path()).unwrap();
        let eins = [Ein::new(1).unwrap(), Ein::new(999_999_999).unwrap()];
        let texts = ["NAME\t\tCITY", "OTHER\tLODGE 1\t"];
        let offsets: Vec<u64> = (0..2)
            .map(|index| writer.push(eins[index], index as i64 - 1, texts[index]).unwrap())
            .collect();
        let mut file = writer.finish().unwrap();
        let second = file.row_at(offsets[1]).unwrap();
        assert_eq!((second.ein, second.filed.as_str()), (eins[1], texts[1]));
        let rows: Vec<Row> = file.rows().unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].digest, rows[0].filed.as_str()), (-1, texts[0]));
        assert_eq!(rows[1], second);
    }
}
