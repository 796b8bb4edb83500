//! Generates synthetic Form 990 returns in the ZIP bundles of the IRS, with an index, for tests and benchmarks.
//!
//! The returns belong to the nonprofits of a generated EO BMF file with the same seed. Each bundle depends only on the seed
//! and its number, so two bundles are written at a time.

mod element_names;
mod generator;
mod sentences;
#[cfg(test)]
mod tests;

pub use generator::Returns;

use generator::{Filing, ReturnGenerator};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::thread;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The number of returns in a bundle.
const BUNDLE_SIZE: u64 = 50_000;
/// The number of bundles that are written at a time.
const WORKERS: u64 = 2;

impl Returns {
    /// Writes the bundles and `index_2024.csv` into a folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let bundles = self.count.div_ceil(BUNDLE_SIZE);
        let mut rows: Vec<(u64, String)> = thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|worker| {
                    scope.spawn(move || {
                        (worker..bundles)
                            .step_by(WORKERS as usize)
                            .map(|bundle| Ok((bundle, self.write_bundle(folder, bundle, bundles)?)))
                            .collect::<io::Result<Vec<_>>>()
                    })
                })
                .collect();
            let mut rows = Vec::new();
            for worker in workers {
                rows.extend(worker.join().expect("a worker does not panic")?);
            }
            io::Result::Ok(rows)
        })?;
        rows.sort_unstable_by_key(|(bundle, _)| *bundle);
        let mut index = BufWriter::new(File::create(folder.join("index_2024.csv"))?);
        index.write_all(
            b"RETURN_ID,FILING_TYPE,EIN,TAX_PERIOD,SUB_DATE,TAXPAYER_NAME,RETURN_TYPE,DLN,OBJECT_ID,XML_BATCH_ID\r\n",
        )?;
        for (_, rows) in rows {
            index.write_all(rows.as_bytes())?;
        }
        index.flush()
    }

    /// Writes a bundle and returns its rows of the index.
    fn write_bundle(&self, folder: &Path, bundle: u64, bundles: u64) -> io::Result<String> {
        let batch = batch(bundle);
        let file = File::create(folder.join(format!("{batch}.zip")))?;
        let mut zip = ZipWriter::new(BufWriter::with_capacity(1 << 20, file));
        let is_zip64 = bundle + 1 == bundles;
        let options = SimpleFileOptions::default()
            .compression_level(Some(1))
            .large_file(is_zip64);
        if is_zip64 {
            // Any content of this field makes the archive a ZIP64 archive.
            zip.set_raw_zip64_extensible_data_sector(Box::new([]));
        }
        let mut generator = ReturnGenerator::new();
        let mut rows = String::new();
        let first = bundle * BUNDLE_SIZE;
        for number in first..(first + BUNDLE_SIZE).min(self.count) {
            let filing = generator.generate(self, number);
            zip.start_file(format!("{batch}/{}_public.xml", filing.object_id), options)?;
            zip.write_all(generator.xml())?;
            let name = generator.name().replace(['"', ','], " ");
            let Filing {
                ein,
                period,
                form,
                object_id,
                ..
            } = &filing;
            let _ = write!(
                rows,
                "{number},EFILE,{ein:09},{period},2024,{name},{form},{}{number:09},{object_id},{batch}\r\n",
                &object_id[8..13]
            );
        }
        zip.finish()?.flush()?;
        Ok(rows)
    }
}

/// Returns the name of a bundle: a month and a letter.
fn batch(bundle: u64) -> String {
    let letter = char::from(b'A' + (bundle / 12 % 26) as u8);
    format!("2024_TEOS_XML_{:02}{letter}", bundle % 12 + 1)
}
