//! Answers from a view of the directory: search, lists by cause and by location, matching of names, and explanations.

mod browse;
pub mod diagnosis;
pub mod ein_status;
mod explain;
pub mod filter;
mod intent;
pub mod interpretation;
pub mod matching;
pub mod named_causes;
pub mod near;
pub mod search;
mod similar;
pub mod spelling;
