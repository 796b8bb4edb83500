//! Reads files that may be compressed with gzip.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;

/// Opens a file and decompresses it if its name ends in .gz.
pub(crate) fn open(file: &Path) -> Result<Box<dyn Read>> {
    let has_extension = |expected: &str| {
        file.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case(expected))
    };
    ensure!(
        !has_extension("zip"),
        "{} is a .zip file: decompress it first, or use a .gz file",
        file.display()
    );
    let reader = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    Ok(if has_extension("gz") {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 18, reader)))
    } else {
        Box::new(reader)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::cleanup::ScratchDir;

    fn read_text(file: &Path) -> String {
        let mut text = String::new();
        open(file).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_gzip_file_with_several_members_reads_like_the_plain_file() {
        let scratch = ScratchDir::new(None).unwrap();
        let (plain, packed) = (scratch.path("a.csv"), scratch.path("a.csv.gz"));
        fs::write(&plain, "EIN\n1\n").unwrap();
        let member = |text: &str| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        fs::write(&packed, [member("EIN\n"), member("1\n")].concat()).unwrap();
        assert_eq!(read_text(&plain), read_text(&packed));
    }

    #[test]
    fn a_zip_file_is_rejected() {
        assert!(open(Path::new("eo1.ZIP")).is_err());
    }
}
