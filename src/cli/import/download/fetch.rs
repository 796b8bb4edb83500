//! Fetches one file: into a partial file, which a later attempt continues, and which is renamed when it is complete.

use super::manifest::{Manifest, PartialEntry};
use super::remote::{Failure, Remote, Version, describe, header, status_failure};
use super::space::check_space;
use super::target::Target;
use super::verify::{find_fault, hash_file};
use anyhow::Context;
use reqwest::header::{CONTENT_ENCODING, CONTENT_RANGE};
use reqwest::{Response, StatusCode};
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The extension of partial files.
pub(crate) const PARTIAL: &str = "part";
/// An attempt that got this many bytes is not a failure, even if it broke off.
const PROGRESS: u64 = 1 << 20;

/// A file that was fetched.
#[derive(Debug, Serialize)]
pub(crate) struct FetchedFile {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// Returns the length of the partial file of a target.
pub(super) fn partial_length(folder: &Path, target: &Target) -> u64 {
    fs::metadata(partial_path(folder, target)).map_or(0, |metadata| metadata.len())
}

fn partial_path(folder: &Path, target: &Target) -> PathBuf {
    folder.join(format!("{}.{PARTIAL}", target.name))
}

/// Fetches one file.
pub(super) struct Fetcher<'a> {
    pub remote: &'a Remote,
    pub folder: &'a Path,
    pub target: &'a Target,
    /// The version and the length that the server named before.
    pub announced: (&'a Version, Option<u64>),
}

/// The rest of a file that a server is sending.
struct Body {
    response: Response,
    version: Version,
    /// The number of bytes that are there already.
    offset: u64,
    /// The length of the complete file.
    length: u64,
}

impl Fetcher<'_> {
    /// Fetches the file, in as many attempts as it takes. `report` gets the number of bytes that are there.
    pub(super) async fn fetch(
        &self,
        manifest: &mut Manifest,
        mut report: impl FnMut(u64),
    ) -> anyhow::Result<FetchedFile> {
        let mut failures = 0;
        loop {
            let before = partial_length(self.folder, self.target);
            let failure = match self.try_fetch(manifest, &mut report).await {
                Ok(fetched) => return Ok(fetched),
                Err(failure) => failure,
            };
            if partial_length(self.folder, self.target) >= before + PROGRESS {
                failures = 0;
            }
            self.remote
                .wait_after(&self.target.url, failure, &mut failures)
                .await?;
        }
    }

    async fn try_fetch(
        &self,
        manifest: &mut Manifest,
        report: &mut impl FnMut(u64),
    ) -> Result<FetchedFile, Failure> {
        let body = self.request(manifest).await?;
        let (version, length) = (body.version.clone(), body.length);
        self.receive(body, manifest, report).await?;
        let fault = find_fault(&self.path(), self.target).with_context(|| self.cannot_write())?;
        if let Some(fault) = fault {
            self.discard(manifest)?;
            return Err(Failure::Temporary(fault.to_owned()));
        }
        let path = self.path();
        let sha256 = tokio::task::spawn_blocking(move || hash_file(&path))
            .await
            .context("hashing failed")??;
        fs::rename(self.path(), self.folder.join(&self.target.name)).with_context(|| self.cannot_write())?;
        manifest.set_complete(self.folder, self.target, version, length, sha256.clone())?;
        Ok(FetchedFile {
            name: self.target.name.clone(),
            bytes: length,
            sha256,
        })
    }

    /// Asks for the file, or for the rest of it, and checks the head of the response.
    async fn request(&self, manifest: &mut Manifest) -> Result<Body, Failure> {
        let partial = manifest.partial(self.target).cloned();
        let offset = partial_length(self.folder, self.target);
        let resumed = partial
            .filter(|partial| offset > 0 && offset < partial.length && partial.version.for_range().is_some());
        let range = resumed
            .as_ref()
            .and_then(|partial| Some((offset, partial.version.for_range()?)));
        let response = self.remote.get(&self.target.url, range).await?;
        let version = Version::of(&response);
        let (offset, length) = match (response.status(), resumed) {
            (StatusCode::PARTIAL_CONTENT, Some(partial)) => {
                let is_continued = content_range(&response) == Some((offset, partial.length))
                    && (version == Version::default() || version.is_same(&partial.version));
                if !is_continued {
                    self.discard(manifest)?;
                    return Err(Failure::Temporary("the file changed on the server".to_owned()));
                }
                (offset, partial.length)
            }
            // The server does not send ranges, or it has another version now.
            (StatusCode::OK, _) => (0, self.checked_length(&response, &version)?),
            (StatusCode::RANGE_NOT_SATISFIABLE, Some(_)) => {
                self.discard(manifest)?;
                return Err(Failure::Temporary("the file changed on the server".to_owned()));
            }
            (status, _) => return Err(status_failure(status)),
        };
        if header(response.headers(), CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return Err(Failure::Temporary(
                "the server compressed the file, so that its length cannot be verified".to_owned(),
            ));
        }
        check_space(self.folder, length - offset)?;
        Ok(Body {
            response,
            version,
            offset,
            length,
        })
    }

    /// Returns the length of a complete response, if it can be trusted.
    fn checked_length(&self, response: &Response, version: &Version) -> Result<u64, Failure> {
        let Some(length) = response.content_length() else {
            return Err(Failure::Temporary(
                "the server does not state the length of the file".to_owned(),
            ));
        };
        let (announced_version, announced_length) = self.announced;
        let is_same = announced_version == version || announced_version.is_same(version);
        match announced_length {
            Some(announced) if is_same && announced != length => Err(Failure::Temporary(format!(
                "the server stated a length of {announced} bytes, and then of {length}"
            ))),
            _ => Ok(length),
        }
    }

    /// Appends the body to the partial file.
    async fn receive(
        &self,
        mut body: Body,
        manifest: &mut Manifest,
        report: &mut impl FnMut(u64),
    ) -> Result<(), Failure> {
        let cannot_write = || self.cannot_write();
        let mut file = if body.offset == 0 {
            // The file is emptied first: its bytes must never be taken for part of the new version.
            let file = File::create(self.path()).with_context(cannot_write)?;
            let entry = PartialEntry {
                url: self.target.url.clone(),
                version: body.version.clone(),
                length: body.length,
            };
            manifest.set_partial(self.folder, self.target, Some(entry))?;
            file
        } else {
            OpenOptions::new()
                .append(true)
                .open(self.path())
                .with_context(cannot_write)?
        };
        let mut received = body.offset;
        report(received);
        let outcome = loop {
            match body.response.chunk().await {
                Ok(Some(chunk)) => {
                    received += chunk.len() as u64;
                    if received > body.length {
                        break Err("the server sent more bytes than it announced".to_owned());
                    }
                    file.write_all(&chunk).with_context(cannot_write)?;
                    report(received);
                }
                Ok(None) if received == body.length => break Ok(()),
                Ok(None) => break Err(broken_off(received, body.length)),
                Err(error) => {
                    let reason = describe(&error);
                    break Err(format!("{}: {reason}", broken_off(received, body.length)));
                }
            }
        };
        file.sync_all().with_context(cannot_write)?;
        if received > body.length {
            self.discard(manifest)?;
        }
        outcome.map_err(Failure::Temporary)
    }

    /// Removes the partial file.
    fn discard(&self, manifest: &mut Manifest) -> anyhow::Result<()> {
        match fs::remove_file(self.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| self.cannot_write())
            }
            _ => manifest.set_partial(self.folder, self.target, None),
        }
    }

    fn path(&self) -> PathBuf {
        partial_path(self.folder, self.target)
    }

    fn cannot_write(&self) -> String {
        format!(
            "cannot write {} in {}; free disk space and check the permissions",
            self.target.name,
            self.folder.display()
        )
    }
}

fn broken_off(received: u64, length: u64) -> String {
    format!("the connection broke off after {received} of {length} bytes")
}

/// Returns the first byte and the length of the complete file, as in `bytes 100-199/200`.
fn content_range(response: &Response) -> Option<(u64, u64)> {
    let range = header(response.headers(), CONTENT_RANGE)?;
    let (range, length) = range.strip_prefix("bytes ")?.split_once('/')?;
    let (first, _) = range.split_once('-')?;
    Some((first.parse().ok()?, length.parse().ok()?))
}
