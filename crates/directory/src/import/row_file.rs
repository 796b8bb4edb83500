//! Rows on their way to the store, kept in a temporary file: what is new or changed is known only once all is
//! read, and 1.8 million rows are not kept in memory for that.

use crate::nonprofits::ein::Ein;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// A row that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub ein: Ein,
    pub digest: i64,
    /// See `Filing`; it holds no line end.
    pub filed: String,
}

/// Rows being spooled. The file has no name: it goes with the process.
pub struct RowFileWriter {
    out: BufWriter<File>,
    at: u64,
    count: u64,
}

/// Spooled rows, to be read in order or one by one.
pub struct RowFile {
    file: File,
    pub count: u64,
}

impl RowFileWriter {
    pub fn new(folder: &Path) -> io::Result<RowFileWriter> {
        Ok(RowFileWriter {
            out: BufWriter::with_capacity(1 << 20, tempfile::tempfile_in(folder)?),
            at: 0,
            count: 0,
        })
    }

    /// Appends a row and says where it begins.
    pub fn push(&mut self, ein: Ein, digest: i64, filed: &str) -> io::Result<u64> {
        let begins = self.at;
        self.out.write_all(&ein.value().to_le_bytes())?;
        self.out.write_all(&digest.to_le_bytes())?;
        self.out.write_all(filed.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.at += 12 + filed.len() as u64 + 1;
        self.count += 1;
        Ok(begins)
    }

    pub fn finish(self) -> io::Result<RowFile> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(RowFile {
            file,
            count: self.count,
        })
    }
}

impl RowFile {
    /// The row that begins at a place.
    pub fn row_at(&mut self, begins: u64) -> io::Result<Row> {
        self.file.seek(SeekFrom::Start(begins))?;
        read_row(&mut BufReader::with_capacity(512, &mut self.file))
    }

    /// All rows in order.
    pub fn rows(mut self) -> io::Result<impl Iterator<Item = io::Result<Row>>> {
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
        ein: Ein::new(u32::from_le_bytes(ein)).ok_or_else(|| io::Error::other("a spooled row is damaged"))?,
        digest: i64::from_le_bytes(digest),
        filed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_order_and_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = RowFileWriter::new(folder.path()).unwrap();
        let eins = [Ein::new(1).unwrap(), Ein::new(999_999_999).unwrap()];
        let texts = ["NAME\t\tCITY", "OTHER\tLODGE 1\t"];
        let begins: Vec<u64> = (0..2)
            .map(|at| writer.push(eins[at], at as i64 - 1, texts[at]).unwrap())
            .collect();
        let mut spool = writer.finish().unwrap();
        let second = spool.row_at(begins[1]).unwrap();
        assert_eq!((second.ein, second.filed.as_str()), (eins[1], texts[1]));
        let rows: Vec<Row> = spool.rows().unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].digest, rows[0].filed.as_str()), (-1, texts[0]));
        assert_eq!(rows[1], second);
    }
}
