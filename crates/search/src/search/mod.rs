//! Query execution: from the typed text to ranked hits.
//!
//! [`execute`] tries registration numbers and domains, then [`rewriter`] tries rewrites of the query, the
//! likeliest first. [`evaluator`] finds the best documents for one rewrite. All of them add to the state in
//! [`searcher`], which keeps the best hits and limits the work.

pub mod boolean_query;
pub mod budget;
pub mod compound;
pub mod evaluator;
pub mod execute;
pub mod filter;
pub mod fuzzy;
pub mod identifiers;
pub mod incremental_sort;
pub mod kinds;
pub mod name_prefix;
pub mod planner;
pub mod postings;
pub mod prefilter;
pub mod ranking;
pub mod rewriter;
pub mod run_together;
pub mod searcher;
pub mod sound;
pub mod top_k;
