//! The settings of claims.

use serde::Deserialize;

/// Who approves claims.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ClaimSettings {
    pub approve: Approval,
}

/// Who approves a claim that is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// An operator.
    Operator,
    /// The proof, if it leaves no doubt.
    Proof,
}
