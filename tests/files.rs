//! Import files: EO BMF rows, plain or compressed.

use ingest::BMF_HEADER;
use std::io::{Cursor, Write};

/// One row of an EO BMF file.
#[derive(Clone)]
pub struct Row([String; 28]);

/// The row of a charity in Concord, New Hampshire, with this EIN and name.
pub fn nonprofit_row(ein: &str, name: &str) -> Row {
    let row = Row(std::array::from_fn(|_| String::new()));
    [
        ("EIN", ein),
        ("NAME", name),
        ("STREET", "1 MAIN ST"),
        ("CITY", "CONCORD"),
        ("STATE", "NH"),
        ("ZIP", "03301-1234"),
        ("GROUP", "0000"),
        ("SUBSECTION", "03"),
        ("AFFILIATION", "3"),
        ("CLASSIFICATION", "1000"),
        ("RULING", "199405"),
        ("DEDUCTIBILITY", "1"),
        ("FOUNDATION", "15"),
        ("STATUS", "01"),
        ("TAX_PERIOD", "202412"),
        ("ASSET_AMT", "125000"),
        ("INCOME_AMT", "64000"),
        ("REVENUE_AMT", "64000"),
        ("NTEE_CD", "B70"),
    ]
    .into_iter()
    .fold(row, |row, (column, value)| row.with(column, value))
}

impl Row {
    pub fn with(mut self, name: &str, value: &str) -> Row {
        let column = BMF_HEADER.iter().position(|column| *column == name).unwrap();
        value.clone_into(&mut self.0[column]);
        self
    }

    pub fn line(&self) -> String {
        self.0.join(",")
    }
}

/// A file with these rows.
pub fn bmf(rows: &[Row]) -> String {
    let lines = rows.iter().map(Row::line);
    [BMF_HEADER.join(",")]
        .into_iter()
        .chain(lines)
        .map(|line| line + "\r\n")
        .collect()
}

/// `count` rows, from `SHELTER 100000001 HOUSE` on.
pub fn nonprofit_rows(count: u32) -> Vec<Row> {
    (100_000_001..)
        .take(count as usize)
        .map(|ein| nonprofit_row(&ein.to_string(), &format!("SHELTER {ein} HOUSE")))
        .collect()
}

/// The output of `causeway generate`.
pub fn generated(count: u64, seed: u64) -> Vec<u8> {
    let mut file = Vec::new();
    ingest::generate::generate(count, seed, &mut file).unwrap();
    file
}

pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A ZIP archive with these members.
pub fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        archive
            .start_file(*name, zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
