//! Files that may be gzipped.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;

/// The text of a file, unpacked where its name ends in .gz.
pub fn open(file: &Path) -> Result<Box<dyn Read>> {
    let is = |wanted: &str| {
        file.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
    };
    ensure!(
        !is("zip"),
        "{} is a .zip: unpack it first, or give a .gz",
        file.display()
    );
    let reader = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    Ok(if is("gz") {
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
    use crate::cleanup::Workplace;

    fn text_of(file: &Path) -> String {
        let mut text = String::new();
        open(file).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn plain_and_gzipped_files_read_the_same_also_of_several_members() {
        let workplace = Workplace::new(None).unwrap();
        let (plain, packed) = (workplace.path("a.csv"), workplace.path("a.csv.gz"));
        fs::write(&plain, "EIN\n1\n").unwrap();
        let member = |text: &str| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        fs::write(&packed, [member("EIN\n"), member("1\n")].concat()).unwrap();
        assert_eq!(text_of(&plain), text_of(&packed));
    }

    #[test]
    fn a_zip_file_is_refused() {
        assert!(open(Path::new("eo1.ZIP")).is_err());
    }
}
