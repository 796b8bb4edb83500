//! IDs with the prefixes of the API.

use uuid::Uuid;

/// Returns a new ID: `ch` becomes `ch_019…`.
pub(crate) fn new_id(prefix: &str) -> String {
    format!("{prefix}_{}", Uuid::now_v7().simple())
}

/// Returns a secret that clients in a browser would use.
pub(crate) fn client_secret(id: &str) -> String {
    format!("{id}_secret_{}", &Uuid::now_v7().simple().to_string()[12..])
}
