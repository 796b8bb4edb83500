//! Reads the ZIP bundles of the IRS: up to 200,000 members, ZIP64, compressed with Deflate or Deflate64.
//!
//! Every worker thread walks through the list of members and reads every second one, so that the results come back in
//! order through bounded queues, without holding the list in memory. In a damaged archive, for example a truncated
//! download, the members are found by the signatures in front of them.

use super::content::{count_rows, is_index, read_bounded};
use super::file_at::FileAt;
use super::found_return::{FoundReturn, Step, base_name};
use super::reader::{self, ReturnError};
use crate::files::hashing_reader::HashingReader;
use crate::files::source::SourceError;
use memchr::memmem;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use zip::read::{Config, read_zipfile_from_stream_with_options};
use zip::result::{ZipError, ZipResult};
use zip::unstable::read::ZipIterable;
use zip::{ZipReadOptions, read::ZipFile};

const WORKERS: usize = 2;
/// The number of members that each worker may be ahead.
const QUEUE_LENGTH: usize = 16;
const SCAN_BUFFER_SIZE: usize = 1 << 20;
/// The signature of the header in front of each member.
const MEMBER_SIGNATURE: &[u8; 4] = b"PK\x03\x04";
/// The size of that header, without the name.
const MEMBER_HEADER_SIZE: usize = 30;

/// What a worker found in one member.
struct ReadMember {
    steps: Vec<Step>,
    /// The first error of the list of members itself, after which there are no more.
    is_last: bool,
}

/// Reads the members of an archive and returns the SHA-256 hash of the file.
pub(super) fn read_archive(
    file: usize,
    name: &str,
    opened: File,
    mut on_step: impl FnMut(Step) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let unreadable = |error: io::Error| SourceError::Unreadable {
        name: name.to_owned(),
        error,
    };
    let archive = FileAt::new(opened).map_err(unreadable)?;
    let listing = Listing::new(&archive).map_err(unreadable)?;
    let (sha256, ()) = thread::scope(|scope| {
        let hash = scope.spawn(|| hash(archive.at(0)));
        let receivers: [Receiver<ReadMember>; WORKERS] = std::array::from_fn(|worker| {
            let (sender, receiver) = sync_channel(QUEUE_LENGTH);
            let (archive, listing) = (&archive, &listing);
            scope.spawn(move || read_members(file, worker, archive, listing, &sender));
            receiver
        });
        let outcome = receive(&receivers, &mut on_step);
        drop(receivers);
        let sha256 = hash.join().expect("hashing does not panic").map_err(unreadable)?;
        anyhow::Ok((sha256, outcome?))
    })?;
    if let Listing::Signatures { offsets, reason } = listing {
        let result = Err(ReturnError::DamagedArchive {
            reason,
            members: offsets.len(),
        });
        on_step(Step::Found(FoundReturn::new(file, "", result)))?;
    }
    Ok(sha256)
}

fn hash(archive: FileAt) -> io::Result<String> {
    let mut reader = HashingReader::new(archive, Arc::default());
    let mut buffer = vec![0; SCAN_BUFFER_SIZE];
    while reader.read(&mut buffer)? > 0 {}
    Ok(reader.sha256())
}

/// Takes the members from the workers in turn, which is their order in the archive.
fn receive(
    receivers: &[Receiver<ReadMember>; WORKERS],
    on_step: &mut impl FnMut(Step) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for receiver in receivers.iter().cycle() {
        let Ok(member) = receiver.recv() else {
            return Ok(());
        };
        for step in member.steps {
            on_step(step)?;
        }
        if member.is_last {
            return Ok(());
        }
    }
    Ok(())
}

/// How the members of an archive are found.
enum Listing {
    /// By the list at its end.
    Directory,
    /// By the signatures of their headers, because the list is missing or damaged.
    Signatures { offsets: Vec<u64>, reason: String },
}

impl Listing {
    fn new(archive: &FileAt) -> io::Result<Listing> {
        match check_directory(archive) {
            Ok(()) => Ok(Listing::Directory),
            Err(ZipError::Io(error)) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            Err(error) => Ok(Listing::Signatures {
                offsets: find_signatures(archive)?,
                reason: error.to_string(),
            }),
        }
    }
}

/// Reads the whole list of members once, so that the workers can rely on it.
fn check_directory(archive: &FileAt) -> ZipResult<()> {
    let mut compressed = 0_u64;
    for entry in ZipIterable::try_new(archive.at(0), Config::default())?.files()? {
        compressed = compressed.saturating_add(entry?.compressed_size());
    }
    if compressed > archive.length() {
        // Members that share their data would make a small archive decompress to any size.
        return Err(ZipError::InvalidArchive("its members overlap".into()));
    }
    Ok(())
}

/// Returns the offsets of everything that looks like the header of a member.
fn find_signatures(archive: &FileAt) -> io::Result<Vec<u64>> {
    let finder = memmem::Finder::new(MEMBER_SIGNATURE);
    let mut input = archive.at(0);
    let mut buffer = Vec::with_capacity(SCAN_BUFFER_SIZE + MEMBER_SIGNATURE.len());
    let (mut offsets, mut start) = (Vec::new(), 0_u64);
    loop {
        let read = input
            .by_ref()
            .take(SCAN_BUFFER_SIZE as u64)
            .read_to_end(&mut buffer)?;
        offsets.extend(finder.find_iter(&buffer).map(|at| start + at as u64));
        if read == 0 {
            return Ok(offsets);
        }
        // A signature can start in this part and end in the next.
        let dropped = buffer.len().saturating_sub(MEMBER_SIGNATURE.len() - 1);
        buffer.drain(..dropped);
        start += dropped as u64;
    }
}

fn read_members(
    file: usize,
    worker: usize,
    archive: &FileAt,
    listing: &Listing,
    sender: &SyncSender<ReadMember>,
) {
    let is_mine = |index: &usize| index % WORKERS == worker;
    match listing {
        Listing::Directory => {
            let mut directory = match ZipIterable::try_new(archive.at(0), Config::default()) {
                Ok(directory) => directory,
                Err(error) => return send_error(file, &error, sender),
            };
            let entries = match directory.files() {
                Ok(entries) => entries,
                Err(error) => return send_error(file, &error, sender),
            };
            for (_, entry) in entries.enumerate().filter(|(index, _)| is_mine(index)) {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => return send_error(file, &error, sender),
                };
                let position = entry.header_start().saturating_add(entry.compressed_size());
                let path = String::from_utf8_lossy(entry.name_raw()).into_owned();
                let mut input = archive.at(0);
                let mut steps = if entry.is_dir() && entry.size() == 0 || is_hidden(&path) {
                    Vec::new()
                } else if entry.encrypted() {
                    vec![failed(file, &path, ReturnError::Encrypted)]
                } else {
                    read_member(file, &path, entry.with_reader(&mut input, ZipReadOptions::new()))
                };
                steps.push(Step::Position(position));
                let is_last = false;
                if sender.send(ReadMember { steps, is_last }).is_err() {
                    return;
                }
            }
        }
        Listing::Signatures { offsets, .. } => {
            for (index, &offset) in offsets.iter().enumerate().filter(|(index, _)| is_mine(index)) {
                let end = offsets.get(index + 1).copied().unwrap_or(archive.length());
                let mut steps = read_member_at(file, archive, offset, end);
                steps.push(Step::Position(end));
                let is_last = false;
                if sender.send(ReadMember { steps, is_last }).is_err() {
                    return;
                }
            }
        }
    }
}

/// Reports that the list of members cannot be read, which was possible a moment ago: the file changes while it is read.
fn send_error(file: usize, error: &ZipError, sender: &SyncSender<ReadMember>) {
    let step = failed(file, "", ReturnError::Damaged(error.to_string()));
    // If nobody receives it, the import has already failed.
    let _ = sender.send(ReadMember {
        steps: vec![step],
        is_last: true,
    });
}

/// Reads the member whose header is at `offset`, without the list of members. The next one starts at `end`.
fn read_member_at(file: usize, archive: &FileAt, offset: u64, end: u64) -> Vec<Step> {
    let mut header = [0; MEMBER_HEADER_SIZE];
    if archive.at(offset).read_exact(&mut header).is_err() {
        return vec![failed(
            file,
            "",
            ReturnError::Damaged("the archive ends in a header".to_owned()),
        )];
    }
    let mut name = Vec::new();
    let name_length = u64::from(u16::from_le_bytes([header[26], header[27]]));
    let name_start = offset + MEMBER_HEADER_SIZE as u64;
    // A short name is noticed below, where the member is opened.
    let _ = archive.at(name_start).take(name_length).read_to_end(&mut name);
    let path = String::from_utf8_lossy(&name).into_owned();
    if path.ends_with('/') || is_hidden(&path) {
        return Vec::new();
    }
    let flags = header[6];
    if flags & 1 != 0 {
        return vec![failed(file, &path, ReturnError::Encrypted)];
    }
    let mut options = ZipReadOptions::new();
    if flags & 8 != 0 {
        // Size and checksum stand behind the data. Compressed data knows its own end.
        let available = end.saturating_sub(name_start + name_length);
        options = options.override_compressed_size(available).ignore_crc32(true);
    }
    let mut input = archive.at(offset);
    let opened = read_zipfile_from_stream_with_options(&mut input, options);
    read_member(
        file,
        &path,
        opened.and_then(|member| member.ok_or(ZipError::InvalidArchive("it has no header".into()))),
    )
}

fn read_member<R: Read>(file: usize, path: &str, opened: ZipResult<ZipFile<'_, R>>) -> Vec<Step> {
    let bytes = opened
        .map_err(|error| ReturnError::Damaged(error.to_string()))
        .and_then(|mut member| {
            let compressed = member.compressed_size();
            read_bounded(&mut member, || compressed)
        });
    let bytes = match bytes {
        Ok(bytes) if is_index(&bytes) => {
            let rows = count_rows(&mut &bytes[..]).unwrap_or_default();
            return vec![Step::IndexRows(rows)];
        }
        Ok(bytes) if is_archive(&bytes) => return vec![failed(file, path, ReturnError::NestedArchive)],
        Ok(bytes) => bytes,
        Err(error) => return vec![failed(file, path, error)],
    };
    let mut steps = Vec::with_capacity(2);
    let Ok(()) = reader::read_all(&bytes, |result| {
        steps.push(Step::Found(FoundReturn::new(file, path, result)));
        Ok::<(), Infallible>(())
    });
    steps
}

fn failed(file: usize, path: &str, error: ReturnError) -> Step {
    Step::Found(FoundReturn::new(file, path, Err(error)))
}

fn is_archive(bytes: &[u8]) -> bool {
    matches!(bytes, [b'P', b'K', 3 | 5, 4 | 6, ..] | [0x1f, 0x8b, ..])
}

/// Returns whether a member is a file that macOS adds to archives.
fn is_hidden(path: &str) -> bool {
    path.starts_with("__MACOSX/") || base_name(path).starts_with("._")
}
