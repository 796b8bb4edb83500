//! The facts about a request that extractors record for the request log.

use access::limits::Class;
use access::limits::call::Decision;
use platform::ids::KeyId;
use std::sync::OnceLock;

/// The keys that made a request, and the decision about its rate limit.
///
/// It is an extension of the request: extractors fill it in, and the request log reads it once the response is there.
#[derive(Debug, Default)]
pub struct RequestRecord {
    pub key: OnceLock<KeyId>,
    /// The other key of a privileged call.
    pub private_key: OnceLock<KeyId>,
    /// The class of the call, and the decision of its limits.
    pub limit: OnceLock<(Class, Decision)>,
}
