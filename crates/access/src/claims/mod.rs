//! Claims: people prove that they act for a nonprofit, and then run its page.
//!
//! A claim is proven by the domain of the website that the nonprofit filed with the IRS, by an email address at that domain,
//! or by a document. [`ClaimState`] says which steps are possible, [`domain`] which domains prove anything, and
//! [`actions`] performs each step in one transaction with its audit entry and its emails.

pub mod actions;
pub mod domain;
mod emails;
pub mod settings;
pub mod store;

use std::time::Duration;

/// The maximum size of a document in bytes.
pub const MAX_DOCUMENT_SIZE: usize = 5 * 1024 * 1024;

/// How long a proof can lead to an approval. Domains change hands.
pub(crate) const PROOF_LIFETIME: Duration = Duration::from_hours(30 * 24);
/// How long the link that proves an email address works.
pub(crate) const LINK_LIFETIME: Duration = Duration::from_hours(24);
/// How long an invitation works.
pub const INVITATION_LIFETIME: Duration = Duration::from_hours(7 * 24);
/// How long a document is kept after the decision.
pub(crate) const DOCUMENT_LIFETIME: Duration = Duration::from_hours(30 * 24);
/// The claims that one account can have open, approved ones included.
pub(crate) const MAX_OPEN_CLAIMS: i64 = 20;
/// The maximum length of the name and the position of a person, in characters.
pub const MAX_NAME_CHARS: usize = 100;
/// The maximum length of the reason for a decision, in characters.
pub const MAX_NOTE_CHARS: usize = 500;

/// What has become of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimState {
    Requested,
    Proven,
    Approved,
    Rejected,
    /// By the person.
    Withdrawn,
    /// After it was approved.
    Revoked,
}

/// A step of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimStep {
    /// The domain or the email address is proven.
    Prove,
    /// The rules or an operator approve it.
    Approve,
    Reject,
    Withdraw,
    Revoke,
}

impl ClaimState {
    pub(crate) const ALL: [ClaimState; 6] = [
        ClaimState::Requested,
        ClaimState::Proven,
        ClaimState::Approved,
        ClaimState::Rejected,
        ClaimState::Withdrawn,
        ClaimState::Revoked,
    ];

    /// Its name in the database and in the output of commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            ClaimState::Requested => "requested",
            ClaimState::Proven => "proven",
            ClaimState::Approved => "approved",
            ClaimState::Rejected => "rejected",
            ClaimState::Withdrawn => "withdrawn",
            ClaimState::Revoked => "revoked",
        }
    }

    fn find(name: &str) -> Option<ClaimState> {
        ClaimState::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Returns whether it is neither decided nor withdrawn.
    pub const fn is_waiting(self) -> bool {
        matches!(self, ClaimState::Requested | ClaimState::Proven)
    }

    /// Returns the state after a step, or `None` if the step is not possible. A document proves nothing by itself: an
    /// operator who approves it has read it.
    pub(crate) const fn after(self, step: ClaimStep, proof: Proof) -> Option<ClaimState> {
        match (self, step) {
            (ClaimState::Requested, ClaimStep::Prove) if proof.is_automatic() => Some(ClaimState::Proven),
            (ClaimState::Requested, ClaimStep::Approve) if !proof.is_automatic() => {
                Some(ClaimState::Approved)
            }
            (ClaimState::Proven, ClaimStep::Approve) => Some(ClaimState::Approved),
            (ClaimState::Requested | ClaimState::Proven, ClaimStep::Reject) => Some(ClaimState::Rejected),
            (ClaimState::Requested | ClaimState::Proven | ClaimState::Approved, ClaimStep::Withdraw) => {
                Some(ClaimState::Withdrawn)
            }
            (ClaimState::Approved, ClaimStep::Revoke) => Some(ClaimState::Revoked),
            _ => None,
        }
    }
}

/// How a claim is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A DNS record of the domain, or a file on its website.
    Domain,
    /// A link in an email to an address at the domain.
    Email,
    /// A document that an operator reads.
    Document,
    /// An administrator invited the person.
    Invitation,
}

impl Proof {
    pub(crate) const ALL: [Proof; 4] = [Proof::Domain, Proof::Email, Proof::Document, Proof::Invitation];

    pub const fn as_str(self) -> &'static str {
        match self {
            Proof::Domain => "domain",
            Proof::Email => "email",
            Proof::Document => "document",
            Proof::Invitation => "invitation",
        }
    }

    fn find(name: &str) -> Option<Proof> {
        Proof::ALL.into_iter().find(|proof| proof.as_str() == name)
    }

    /// Returns whether this server verifies it.
    const fn is_automatic(self) -> bool {
        matches!(self, Proof::Domain | Proof::Email)
    }
}

/// What a person may do for a nonprofit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Administrator,
    /// Edit the page.
    Editor,
}

impl Role {
    const ALL: [Role; 2] = [Role::Administrator, Role::Editor];

    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Administrator => "administrator",
            Role::Editor => "editor",
        }
    }

    pub fn find(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    const STEPS: [ClaimStep; 5] = [
        ClaimStep::Prove,
        ClaimStep::Approve,
        ClaimStep::Reject,
        ClaimStep::Withdraw,
        ClaimStep::Revoke,
    ];

    proptest! {
        #[test]
        fn a_claim_is_approved_only_after_a_proof_and_never_after_its_end(
            proof in select(&Proof::ALL[..]),
            steps in proptest::collection::vec(select(&STEPS[..]), 0..12),
        ) {
            let (mut state, mut is_proven, mut has_ended) = (ClaimState::Requested, false, false);
            for step in steps {
                let Some(next) = state.after(step, proof) else { continue };
                prop_assert!(!has_ended, "{:?} after the end", step);
                is_proven |= next == ClaimState::Proven;
                if next == ClaimState::Approved {
                    prop_assert!(is_proven || !proof.is_automatic());
                    prop_assert_eq!(step, ClaimStep::Approve);
                }
                if next == ClaimState::Revoked {
                    prop_assert_eq!(state, ClaimState::Approved);
                }
                has_ended = !next.is_waiting() && next != ClaimState::Approved;
                state = next;
            }
        }

        #[test]
        fn names_are_found_again(state in select(&ClaimState::ALL[..]), proof in select(&Proof::ALL[..])) {
            prop_assert_eq!(ClaimState::find(state.as_str()), Some(state));
            prop_assert_eq!(Proof::find(proof.as_str()), Some(proof));
        }
    }
}
