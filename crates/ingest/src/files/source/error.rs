//! Errors that concern a file as a whole.

use std::io::{self, ErrorKind};

use thiserror::Error;
use zip::result::ZipError;

/// The reason why a file cannot be read. Each message says what is wrong, and what to do.
#[derive(Debug, Error)]
pub(crate) enum SourceError {
    #[error("{name} does not exist; check the path")]
    NotFound { name: String },
    #[error("{name} is a folder, not a file; give the files in it")]
    IsFolder { name: String },
    #[error("{name} is empty; download the file again")]
    Empty { name: String },
    #[error("{name} is {found}, not {expected}; {advice}")]
    WrongFormat {
        name: String,
        found: &'static str,
        expected: &'static str,
        advice: &'static str,
    },
    #[error("{name} is truncated: the gzip stream ends early; download the file again")]
    TruncatedGzip { name: String },
    #[error("{name} is damaged: {reason}; download the file again")]
    Damaged { name: String, reason: String },
    #[error("{name} contains no .{extension} file; give an archive that contains one")]
    NoTable { name: String, extension: &'static str },
    #[error("{name} uses an unsupported compression method ({method}); decompress it first")]
    Unsupported { name: String, method: String },
    #[error("{name} is far too large when decompressed; check that it is the right file")]
    Bomb { name: String },
    #[error("cannot read {name}: {error}; check the disk and the permissions of the file")]
    Unreadable { name: String, error: io::Error },
}

/// Converts an error of the ZIP library.
pub(crate) fn zip_error(name: &str, error: ZipError) -> SourceError {
    let name = name.to_owned();
    match error {
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            SourceError::Unsupported {
                name,
                method: error.to_string(),
            }
        }
        ZipError::Io(error) if error.kind() != ErrorKind::UnexpectedEof => {
            SourceError::Unreadable { name, error }
        }
        other => SourceError::Damaged {
            name,
            reason: other.to_string(),
        },
    }
}

/// Converts a read error. Returns the [`SourceError`] inside it, if there is one.
pub(crate) fn read_error(name: &str, error: io::Error) -> SourceError {
    let name = name.to_owned();
    match error.downcast::<SourceError>() {
        Ok(error) => error,
        Err(error) => match error.kind() {
            ErrorKind::NotFound => SourceError::NotFound { name },
            ErrorKind::IsADirectory => SourceError::IsFolder { name },
            _ => SourceError::Unreadable { name, error },
        },
    }
}

/// Rejects data that is clearly not text, so that the error names the actual problem instead of missing columns.
pub(crate) fn check_first_bytes(
    name: &str,
    expected: &'static str,
    first_bytes: &[u8],
) -> Result<(), SourceError> {
    const DECOMPRESS: &str = "decompress it first";
    let (found, advice) = match first_bytes {
        [] => {
            return Err(SourceError::Empty {
                name: name.to_owned(),
            });
        }
        [0x1F, 0x8B, ..] | [b'P', b'K', 3, 4, ..] => ("an archive inside an archive", DECOMPRESS),
        [b'B', b'Z', b'h', ..] => ("a bzip2 file", DECOMPRESS),
        [0xFD, b'7', b'z', b'X', b'Z', ..] => ("an xz file", DECOMPRESS),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => ("a Zstandard file", DECOMPRESS),
        [b'7', b'z', 0xBC, 0xAF, ..] => ("a 7z archive", DECOMPRESS),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => ("text in UTF-16", "save it as UTF-8"),
        [b'%', b'P', b'D', b'F', ..] => ("a PDF", "give the data file instead"),
        [b'<', ..] => ("a web page", "download the data file itself"),
        _ if first_bytes.iter().take(512).any(|b| *b == 0) => ("binary data", "give the data file instead"),
        _ => return Ok(()),
    };
    Err(SourceError::WrongFormat {
        name: name.to_owned(),
        found,
        expected,
        advice,
    })
}
