//! Text of responses that may be compressed, with its compressed copy.

use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::{Arc, OnceLock};

/// Text without secrets, which is compressed at most once. Cheap to clone.
#[derive(Clone, Debug)]
pub struct CompressibleText(Arc<Copies>);

#[derive(Debug)]
struct Copies {
    plain: Bytes,
    gzip: OnceLock<Bytes>,
    level: Compression,
}

impl CompressibleText {
    /// Creates text that is sent a few times.
    pub fn new(text: impl Into<Bytes>) -> CompressibleText {
        CompressibleText::with_level(text.into(), Compression::new(3))
    }

    /// Creates text that is sent as long as the server runs, so it is worth more work.
    pub fn permanent(text: impl Into<Bytes>) -> CompressibleText {
        CompressibleText::with_level(text.into(), Compression::best())
    }

    /// Creates text that is sent once.
    pub fn once(text: impl Into<Bytes>) -> CompressibleText {
        CompressibleText::with_level(text.into(), Compression::fast())
    }

    fn with_level(plain: Bytes, level: Compression) -> CompressibleText {
        CompressibleText(Arc::new(Copies {
            plain,
            gzip: OnceLock::new(),
            level,
        }))
    }

    /// Returns the text as it is.
    pub fn plain(&self) -> &Bytes {
        &self.0.plain
    }

    /// Returns the text compressed with gzip.
    pub fn gzip(&self) -> Bytes {
        let compress = || {
            let mut encoder = GzEncoder::new(Vec::with_capacity(self.0.plain.len() / 3), self.0.level);
            let result = encoder.write_all(&self.0.plain).and_then(|()| encoder.finish());
            Bytes::from(result.expect("writing to memory does not fail"))
        };
        self.0.gzip.get_or_init(compress).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn text_is_compressed_once_and_is_the_same_after_decompression() {
        let text = CompressibleText::new("<p>the same</p>".repeat(100));
        let gzip = text.gzip();
        assert!(gzip.len() < text.plain().len() / 10);
        assert_eq!(gzip.as_ptr(), text.clone().gzip().as_ptr());
        let mut plain = Vec::new();
        GzDecoder::new(&*gzip).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, *text.plain());
    }
}
