//! Query execution: from the typed text to ranked hits.
//!
//! [`execute`] tries registration numbers and domains, then [`rewriter`] tries rewrites of the query, the
//! likeliest first. [`evaluator`] finds the best documents for one rewrite. All of them add to the state in
//! [`searcher`], which keeps the best hits and limits the work.

pub(crate) mod boolean_query;
pub(crate) mod budget;
pub(crate) mod compound;
pub(crate) mod evaluator;
pub(crate) mod execute;
pub(crate) mod filter;
pub(crate) mod fuzzy;
pub(crate) mod identifiers;
pub(crate) mod incremental_sort;
pub(crate) mod kinds;
pub(crate) mod missions;
pub(crate) mod name_prefix;
pub(crate) mod planner;
pub(crate) mod postings;
pub(crate) mod prefilter;
pub(crate) mod ranking;
pub(crate) mod reading;
pub(crate) mod relaxed;
pub(crate) mod rewriter;
pub(crate) mod run_together;
pub(crate) mod searcher;
pub(crate) mod shorthand;
pub(crate) mod sound;
pub(crate) mod top_k;
