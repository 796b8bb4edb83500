//! The reconciliation service under `/reconcile`, version 0.2 of the
//! [Reconciliation Service API](https://www.w3.org/community/reports/reconciliation/CG-FINAL-specs-0.2-20230410/).
//!
//! OpenRefine and spreadsheets use it to match lists of names, places and EINs to nonprofits, and to add columns about
//! them. It finds the same candidates as `POST /v0.2/match`.

mod entity;
mod extend;
mod manifest;
pub mod preview;
pub mod properties;
mod queries;
pub mod service;
pub mod suggest;
