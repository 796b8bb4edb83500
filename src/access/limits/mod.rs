//! Rate limits: the exact sliding window and the limiter that holds one for each key.

pub mod limiter;
pub mod recent;
pub mod shards;
pub mod shares;
pub mod window;
