//! How much space is left on a disk, and how much is too little.

use rustix::fs::statvfs;
use std::fmt;
use std::io;
use std::path::Path;

const GIB: u64 = 1 << 30;
/// Below this, imports and snapshots are likely to fail.
const LOW: u64 = 2 * GIB;
/// Below this, writes are about to fail.
const CRITICAL: u64 = GIB / 4;

/// The space on a disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    pub free: u64,
    pub total: u64,
}

/// Whether the free space is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceLevel {
    Enough,
    Low,
    Critical,
}

impl DiskSpace {
    /// Measures the disk of a folder.
    pub fn measure(folder: &Path) -> io::Result<DiskSpace> {
        let found = statvfs(folder).map_err(|error| io::Error::from_raw_os_error(error.raw_os_error()))?;
        Ok(DiskSpace {
            free: found.f_bavail * found.f_frsize,
            total: found.f_blocks * found.f_frsize,
        })
    }

    pub fn level(self) -> SpaceLevel {
        match self.free {
            ..CRITICAL => SpaceLevel::Critical,
            CRITICAL..LOW => SpaceLevel::Low,
            LOW.. => SpaceLevel::Enough,
        }
    }
}

impl fmt::Display for DiskSpace {
    /// Formats it as `1.5 GiB of 20.0 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gib = |bytes: u64| bytes as f64 / GIB as f64;
        write!(f, "{:.1} GiB of {:.1} GiB", gib(self.free), gib(self.total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_space_is_low_and_almost_none_is_critical() {
        let level = |free| DiskSpace { free, total: 9 * GIB }.level();
        assert_eq!(level(2 * GIB), SpaceLevel::Enough);
        assert_eq!(level(2 * GIB - 1), SpaceLevel::Low);
        assert_eq!(level(GIB / 4), SpaceLevel::Low);
        assert_eq!(level(GIB / 4 - 1), SpaceLevel::Critical);
        let space = DiskSpace {
            free: 3 * GIB / 2,
            total: 20 * GIB,
        };
        assert_eq!(space.to_string(), "1.5 GiB of 20.0 GiB");
    }

    #[test]
    fn the_disk_of_a_folder_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let space = DiskSpace::measure(folder.path()).unwrap();
        assert!(space.total >= space.free && space.total > 0);
    }
}
