//! What can be wrong with a file as a whole, each in one sentence: what, where, and what to do.

use std::io::{self, ErrorKind};

use thiserror::Error;
use zip::result::ZipError;

/// Why a file cannot be read: what, where, and what to do.
#[derive(Debug, Error)]
pub enum SourceError {
    #[error("{name} does not exist; check the path")]
    NotFound { name: String },
    #[error("{name} is a folder, not a file; name the files in it")]
    IsFolder { name: String },
    #[error("{name} is empty; download the file again")]
    Empty { name: String },
    #[error("{name} is {found}, not {wanted}; {advice}")]
    WrongFormat {
        name: String,
        found: &'static str,
        wanted: &'static str,
        advice: &'static str,
    },
    #[error("{name} is cut off: the gzip stream ends early; download the file again")]
    TruncatedGzip { name: String },
    #[error("{name} is damaged: {fault}; download the file again")]
    Damaged { name: String, fault: String },
    #[error("{name} holds no .{ending} file; name an archive that does, or unpack it first")]
    NothingInside { name: String, ending: &'static str },
    #[error("{name} is packed in a way that is not supported ({fault}); unpack it first")]
    Unsupported { name: String, fault: String },
    #[error(
        "{name} unpacks to far more than a directory of nonprofits can hold; unpack it and look what it is"
    )]
    Bomb { name: String },
    #[error("{name} cannot be read: {fault}; check the disk and the permissions of the file")]
    Unreadable { name: String, fault: io::Error },
}

/// Words for what the archive reader reports.
pub fn damaged_zip(name: &str, fault: ZipError) -> SourceError {
    let name = name.to_owned();
    match fault {
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            SourceError::Unsupported {
                name,
                fault: fault.to_string(),
            }
        }
        ZipError::Io(fault) if fault.kind() != ErrorKind::UnexpectedEof => {
            SourceError::Unreadable { name, fault }
        }
        other => SourceError::Damaged {
            name,
            fault: other.to_string(),
        },
    }
}

/// Words for a failed read; those that were found further down are kept.
pub fn unreadable(name: &str, fault: io::Error) -> SourceError {
    let name = name.to_owned();
    match fault.downcast::<SourceError>() {
        Ok(explained) => explained,
        Err(fault) => match fault.kind() {
            ErrorKind::NotFound => SourceError::NotFound { name },
            ErrorKind::IsADirectory => SourceError::IsFolder { name },
            _ => SourceError::Unreadable { name, fault },
        },
    }
}

/// Refuses what is clearly no text, so that nobody has to read a complaint about columns of a picture.
pub fn check_opening(name: &str, wanted: &'static str, opening: &[u8]) -> Result<(), SourceError> {
    const UNPACK: &str = "unpack it first";
    let (found, advice) = match opening {
        [] => {
            return Err(SourceError::Empty {
                name: name.to_owned(),
            });
        }
        [0x1F, 0x8B, ..] | [b'P', b'K', 3, 4, ..] => ("an archive inside an archive", UNPACK),
        [b'B', b'Z', b'h', ..] => ("a bzip2 file", UNPACK),
        [0xFD, b'7', b'z', b'X', b'Z', ..] => ("an xz file", UNPACK),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => ("a Zstandard file", UNPACK),
        [b'7', b'z', 0xBC, 0xAF, ..] => ("a 7z archive", UNPACK),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => ("text in UTF-16", "save it as UTF-8"),
        [b'%', b'P', b'D', b'F', ..] => ("a PDF", "name the data file instead"),
        [b'<', ..] => ("a web page", "download the data file itself"),
        _ if opening.iter().take(512).any(|b| *b == 0) => ("binary data", "name the data file instead"),
        _ => return Ok(()),
    };
    Err(SourceError::WrongFormat {
        name: name.to_owned(),
        found,
        wanted,
        advice,
    })
}
