//! The one TLS provider of the process: `ring`, which builds in a fraction of the time of `aws-lc-rs`.

use tokio_rustls::rustls::crypto::ring;

/// Makes `ring` the provider for libraries that use the one of the process. Calling it again does nothing.
pub fn install_provider() {
    // It fails only if a provider is installed, and there is no other.
    let _ = ring::default_provider().install_default();
}
