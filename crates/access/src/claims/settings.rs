//! The settings of claims.

use serde::Deserialize;

/// Who approves claims.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ClaimSettings {
    pub approve: Approval,
    pub without_consent: WithoutConsent,
}

/// What happens to a nonprofit that has not consented to be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WithoutConsent {
    /// It is like any other.
    Allow,
    /// Its page says so, and shows none of its pictures.
    Notice,
    /// It also receives no donations.
    Refuse,
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
