//! Query execution: from the typed text to ranked hits.

pub mod boolean_query;
pub mod evaluator;
pub mod filter;
pub mod fuzzy;
pub mod name_prefix;
pub mod planner;
pub mod postings;
pub mod prefilter;
pub mod ranking;
pub mod rewriter;
pub mod searcher;
pub mod top_k;
