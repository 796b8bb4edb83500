//! Checks the free space before a download.

use anyhow::{Context, bail};
use rustix::fs::statvfs;
use std::path::Path;

/// Space that is left free, in bytes: the import needs some too.
const RESERVED_SPACE: u64 = 256 << 20;

/// Returns an error if the folder has no space for this many bytes.
pub(super) fn check_space(folder: &Path, needed: u64) -> anyhow::Result<()> {
    let space = statvfs(folder).with_context(|| format!("cannot examine {}", folder.display()))?;
    let free = space.f_bavail * space.f_frsize;
    if needed > 0 && needed.saturating_add(RESERVED_SPACE) > free {
        bail!(
            "the files need {:.1} GB, but {} has only {:.1} GB free; free disk space, name another folder, \
             or download fewer returns with --years or --returns none",
            needed as f64 / 1e9,
            folder.display(),
            free as f64 / 1e9
        );
    }
    Ok(())
}
