//! Opens the files of an import: plain, gzip or ZIP, detected by their first bytes rather than their extension.
//!
//! Files are streamed. While a file is read, its bytes are counted for the progress bar and hashed, so that the import can
//! be recorded without reading the file twice. A ZIP archive is not read in order, so it is hashed first. The decompressed
//! size is limited, so that a small file cannot exhaust memory or disk space.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use zip::{CompressionMethod, ZipArchive};

pub(crate) use self::error::SourceError;
use self::error::{check_first_bytes, read_error, zip_error};
use crate::files::hashing_reader::HashingReader;

mod error;

const BUFFER_SIZE: usize = 128 * 1024;
/// No directory of nonprofits is nearly this large.
const MAX_DECOMPRESSED_SIZE: u64 = 64 << 30;
/// The compression ratio is checked above this size.
const RATIO_CHECK_THRESHOLD: u64 = 1 << 30;
/// Tables compress five to ten times.
const MAX_RATIO: u64 = 100;

/// The format that an import expects in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    JsonLines,
    /// A list file of the IRS.
    Text,
}

impl Format {
    fn title(self) -> &'static str {
        match self {
            Format::Csv => "CSV",
            Format::JsonLines => "JSON Lines",
            Format::Text => "a text file",
        }
    }

    fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Csv => &["csv"],
            Format::JsonLines => &["jsonl", "ndjson"],
            Format::Text => &["txt"],
        }
    }

    /// Returns whether a member of an archive has this format, according to its extension.
    fn matches(self, member: &str) -> bool {
        let path = Path::new(member);
        let is_hidden = path
            .file_name()
            .is_none_or(|name| name.to_string_lossy().starts_with("._"));
        let extension = path.extension().unwrap_or_default();
        !is_hidden
            && self
                .extensions()
                .iter()
                .any(|expected| extension.eq_ignore_ascii_case(expected))
    }
}

/// A file that is being read.
pub(crate) struct Source {
    name: String,
    format: Format,
    input: Input,
    length: Option<u64>,
    consumed: Arc<AtomicU64>,
    decompressed: u64,
}

enum Input {
    Plain {
        file: Box<BufReader<HashingReader<File>>>,
        read: bool,
    },
    Gzip {
        stream: Box<MultiGzDecoder<BufReader<HashingReader<File>>>>,
        read: bool,
    },
    Zip {
        archive: Box<ZipArchive<BufReader<HashingReader<File>>>>,
        members: std::vec::IntoIter<usize>,
        sha256: String,
    },
}

impl Input {
    fn compression(&self) -> Compression {
        match self {
            Input::Plain { .. } => Compression::None,
            Input::Gzip { .. } => Compression::Gzip,
            Input::Zip { .. } => Compression::Zip,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zip,
}

/// One table of a source: the file itself, or a member of an archive.
pub(crate) struct Part<'a> {
    /// The name in messages.
    pub name: String,
    text: BufReader<Decoder<'a>>,
}

impl Source {
    /// Opens a file and detects its compression.
    pub(crate) fn open(path: &Path, format: Format) -> Result<Source, SourceError> {
        let name = path.display().to_string();
        let read_error = |error: io::Error| read_error(&name, error);
        let file = File::open(path).map_err(read_error)?;
        let metadata = file.metadata().map_err(read_error)?;
        if metadata.is_dir() {
            return Err(SourceError::IsFolder { name });
        }
        let length = metadata.is_file().then_some(metadata.len());
        let consumed = Arc::new(AtomicU64::new(0));
        let mut file = BufReader::with_capacity(BUFFER_SIZE, HashingReader::new(file, Arc::clone(&consumed)));
        let input = match file.fill_buf().map_err(read_error)? {
            [] => return Err(SourceError::Empty { name }),
            [0x1F, 0x8B, ..] => Input::Gzip {
                stream: Box::new(MultiGzDecoder::new(file)),
                read: false,
            },
            [b'P', b'K', 3 | 5, 4 | 6, ..] => open_zip(&name, format, file)?,
            _ => Input::Plain {
                file: Box::new(file),
                read: false,
            },
        };
        Ok(Source {
            name,
            format,
            input,
            length,
            consumed,
            decompressed: 0,
        })
    }

    /// Returns the size of the file. A pipe has none.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns a counter of the bytes read so far. An archive is not read in order, so its count may end slightly above
    /// the length.
    pub(crate) fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }

    /// Opens the next table. Returns `None` after the last.
    pub(crate) fn next_part(&mut self) -> Result<Option<Part<'_>>, SourceError> {
        let mut name = self.name.clone();
        let compression = self.input.compression();
        let stream: Box<dyn Read + Send + '_> = match &mut self.input {
            Input::Plain { read: true, .. } | Input::Gzip { read: true, .. } => return Ok(None),
            Input::Plain { file, read } => {
                *read = true;
                Box::new(file)
            }
            Input::Gzip { stream, read } => {
                *read = true;
                Box::new(stream)
            }
            Input::Zip { archive, members, .. } => {
                let Some(member) = members.next() else {
                    return Ok(None);
                };
                let file = archive
                    .by_index(member)
                    .map_err(|error| zip_error(&self.name, error))?;
                if let Ok(member) = file.name() {
                    name = format!("{name}: {member}");
                }
                let method = file.compression();
                if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
                    return Err(SourceError::Unsupported {
                        name,
                        method: method.to_string(),
                    });
                }
                Box::new(file)
            }
        };
        let decoder = Decoder {
            stream,
            name: name.clone(),
            compression,
            consumed: Arc::clone(&self.consumed),
            decompressed: &mut self.decompressed,
        };
        let mut text = BufReader::with_capacity(BUFFER_SIZE, decoder);
        let first_bytes = text.fill_buf().map_err(|error| read_error(&name, error))?;
        check_first_bytes(&name, self.format.title(), first_bytes)?;
        Ok(Some(Part { name, text }))
    }

    /// Reads the rest of the file. Returns the SHA-256 hash of the whole file in hexadecimal.
    pub(crate) fn finish(self) -> Result<String, SourceError> {
        let mut rest = match self.input {
            Input::Zip { sha256, .. } => return Ok(sha256),
            Input::Plain { file, .. } => file.into_inner(),
            Input::Gzip { stream, .. } => stream.into_inner().into_inner(),
        };
        io::copy(&mut rest, &mut io::sink()).map_err(|error| read_error(&self.name, error))?;
        Ok(rest.sha256())
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.text.read(buffer)
    }
}

impl BufRead for Part<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.text.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.text.consume(amount);
    }
}

/// Decompresses a table, converts the errors of the decompressor, and limits the decompressed size.
struct Decoder<'a> {
    stream: Box<dyn Read + Send + 'a>,
    name: String,
    compression: Compression,
    consumed: Arc<AtomicU64>,
    decompressed: &'a mut u64,
}

impl Read for Decoder<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::Interrupted => error,
            _ => io::Error::new(error.kind(), self.convert(error)),
        })?;
        *self.decompressed += read as u64;
        if self.compression != Compression::None
            && is_bomb(*self.decompressed, self.consumed.load(Ordering::Relaxed))
        {
            return Err(io::Error::other(SourceError::Bomb {
                name: self.name.clone(),
            }));
        }
        Ok(read)
    }
}

impl Decoder<'_> {
    fn convert(&self, error: io::Error) -> SourceError {
        let name = self.name.clone();
        match (self.compression, error.kind()) {
            (Compression::Gzip, ErrorKind::UnexpectedEof) => SourceError::TruncatedGzip { name },
            (
                Compression::Gzip | Compression::Zip,
                ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof,
            ) => SourceError::Damaged {
                name,
                reason: error.to_string(),
            },
            _ => SourceError::Unreadable { name, error },
        }
    }
}

/// Returns whether a file is a decompression bomb.
fn is_bomb(decompressed: u64, compressed: u64) -> bool {
    decompressed > MAX_DECOMPRESSED_SIZE
        || decompressed > RATIO_CHECK_THRESHOLD && decompressed / MAX_RATIO > compressed
}

fn open_zip(name: &str, format: Format, file: BufReader<HashingReader<File>>) -> Result<Input, SourceError> {
    let mut reader = file.into_inner();
    let read_error = |error: io::Error| read_error(name, error);
    io::copy(&mut reader, &mut io::sink()).map_err(read_error)?;
    let (mut file, sha256) = reader.stop_hashing();
    file.rewind().map_err(read_error)?;
    let archive = ZipArchive::new(BufReader::with_capacity(BUFFER_SIZE, file))
        .map_err(|error| zip_error(name, error))?;
    let members: Vec<usize> = (0..archive.len())
        .filter(|index| {
            archive
                .name_for_index(*index)
                .and_then(Result::ok)
                .is_some_and(|member| format.matches(&member))
        })
        .collect();
    if members.is_empty() {
        return Err(SourceError::NoTable {
            name: name.to_owned(),
            extension: format.extensions()[0],
        });
    }
    Ok(Input::Zip {
        archive: Box::new(archive),
        members: members.into_iter(),
        sha256,
    })
}

#[cfg(test)]
mod tests;
