//! Settings of the directory.

use std::time::Duration;

/// How a running server keeps its directory up to date.
#[derive(Clone, Copy, Debug)]
pub struct DirectorySettings {
    /// How often the server looks for changes in the store.
    pub poll_interval: Duration,
    /// How many changed nonprofits may be held in memory before a new snapshot is built.
    pub overlay_limit: usize,
    /// How long a server that builds a snapshot may be silent before another one takes over.
    pub build_lease: Duration,
}
