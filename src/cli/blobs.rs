//! `causeway blobs`

use super::output::Output;
use anyhow::bail;
use clap::Subcommand;
use platform::blobs::copy::{self, CopyReport, Total};
use platform::blobs::location::BlobsLocation;
use platform::progress::{Progress, Unit};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

#[derive(Subcommand)]
pub(super) enum Blobs {
    /// Copy all blobs, such as pictures, from one blob store to another; nothing is deleted
    ///
    /// Each location is a folder, file:///folder or s3://bucket/prefix?endpoint=URL&region=NAME. Blobs that are already
    /// there are skipped, so run this again after an interruption. Every copy is compared with its original.
    #[command(
        after_help = "Example:\n  causeway blobs copy /var/lib/causeway/blobs 's3://pictures?endpoint=https://s3.example.org&region=us-east-1'"
    )]
    Copy {
        /// The folder or s3:// URL to copy from
        #[arg(value_name = "FROM")]
        from: String,
        /// The folder or s3:// URL to copy to
        #[arg(value_name = "TO")]
        to: String,
    },
}

impl Blobs {
    pub(super) async fn run(self, output: Output) -> anyhow::Result<()> {
        let Blobs::Copy { from, to } = self;
        let (from, to) = (BlobsLocation::parse(&from)?, BlobsLocation::parse(&to)?);
        refuse_same(&from, &to)?;
        if let BlobsLocation::Folder(folder) = &from
            && !folder.is_dir()
        {
            bail!(
                "there is no folder {}; name the folder of the blobs",
                folder.display()
            );
        }
        let from = platform::blobs::Blobs::open_location(from)?;
        let to = platform::blobs::Blobs::open_location(to)?;
        to.probe().await?;
        let total = copy::count(&from).await?;
        let mut progress = Progress::start("copying", total.bytes, Unit::Bytes);
        let report = copy::copy(&from, &to, |report| progress.set_position(report.bytes())).await;
        progress.finish();
        let report = report?;
        let count = |total: Total| json!({"blobs": total.blobs, "bytes": total.bytes});
        let value = json!({
            "copied": count(report.copied),
            "skipped": count(report.skipped),
            "deleted": count(report.deleted),
        });
        output.print(&value, || text(&report))
    }
}

/// Refuses to copy a store into itself, which would not end.
fn refuse_same(from: &BlobsLocation, to: &BlobsLocation) -> anyhow::Result<()> {
    let is_within = |inner: &Path, outer: &Path| inner.starts_with(outer);
    let overlaps = match (from, to) {
        (BlobsLocation::Folder(from), BlobsLocation::Folder(to)) => {
            is_within(from, to) || is_within(to, from)
        }
        (BlobsLocation::S3(from), BlobsLocation::S3(to)) => {
            (&from.bucket, &from.endpoint) == (&to.bucket, &to.endpoint)
                && (is_within(Path::new(&from.prefix), Path::new(&to.prefix))
                    || is_within(Path::new(&to.prefix), Path::new(&from.prefix)))
        }
        _ => false,
    };
    if overlaps {
        bail!("{to} and {from} are the same, or one contains the other; name two separate locations");
    }
    Ok(())
}

fn text(report: &CopyReport) -> String {
    let CopyReport {
        copied,
        skipped,
        deleted,
    } = report;
    let mut text = format!(
        "copied {} blobs ({} bytes), skipped {} that were there; all are verified",
        copied.blobs, copied.bytes, skipped.blobs
    );
    if deleted.blobs > 0 {
        let _ = write!(text, "; {} were deleted meanwhile", deleted.blobs);
    }
    text
}
