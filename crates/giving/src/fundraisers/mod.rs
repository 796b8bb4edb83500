//! Fundraisers: campaigns that raise money for one or more nonprofits.
//!
//! The weights of the nonprofits that a fundraiser supports count relative to the largest, to 53 bits
//! (`Weights::relative` in `platform`). Shares are computed with integers, and a weight of 1e-300 next to 1 counts as
//! zero.

pub mod cache;
pub mod change;
pub mod cover;
pub mod goal;
mod history;
pub mod input;
pub mod moderate;
pub mod names;
pub mod nonprofit_rules;
pub mod review;
pub mod rules;
pub mod slug;
mod status;
pub mod store;
mod supported;
pub mod write;

pub use status::Status;

use crate::ledger::entry::{Beneficiaries, Totals};
use cover::Focus;
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::money::{Cents, Weights};
use uuid::Uuid;

/// The ID that a fundraiser for several nonprofits has in place of the ID of a nonprofit.
pub const SPECIAL: NonprofitId = NonprofitId(Uuid::from_u128(0xddac_c399_20c5_462e_80e1_97fa_9580_71ea));
/// The slug that its URL has in place of the slug of a nonprofit.
pub const SPECIAL_SLUG: &str = "special-fundraiser";

/// The first segment of the path of a fundraiser for several nonprofits: `/f/{slug}`.
const SHORT_SEGMENT: &str = "f";

/// Returns the path of the page of a fundraiser, by the slug of its nonprofit, or by [`SPECIAL_SLUG`], and its own slug.
pub fn path(nonprofit: &str, slug: &str) -> String {
    if nonprofit == SPECIAL_SLUG {
        format!("/{SHORT_SEGMENT}/{slug}")
    } else {
        format!("/{nonprofit}/f/{slug}")
    }
}

/// A stored fundraiser.
#[derive(Clone, Debug, PartialEq)]
pub struct Fundraiser {
    pub id: FundraiserId,
    pub nonprofit: NonprofitId,
    pub slug: String,
    /// The owner. The account may have been deleted.
    pub account: AccountId,
    pub title: String,
    pub description: Option<String>,
    /// The ID of a hosted picture. `None` if the cover is generated.
    pub cover: Option<String>,
    /// The part of the hosted picture that stays visible where it is cropped.
    pub focus: Focus,
    pub starts_at: Option<i64>,
    pub ends_at: Option<i64>,
    pub goal: Option<Cents>,
    /// The amount raised offline, as its owner reported it. The ledger has entries for it.
    pub offline: Option<Cents>,
    pub created_at: i64,
    pub closed_at: Option<i64>,
    /// When an operator hid it, and the reason that its owner sees.
    pub hidden_at: Option<i64>,
    pub hidden_reason: Option<String>,
    /// When it started to wait for an operator to approve it.
    pub in_review_since: Option<i64>,
    pub version: i64,
    /// The nonprofits it supports, in the order given, with their weights.
    pub supported: Vec<(NonprofitId, f64)>,
}

impl Fundraiser {
    /// Returns whether it supports several nonprofits.
    pub fn is_multiple(&self) -> bool {
        self.nonprofit == SPECIAL
    }

    /// Returns the path of its page. `nonprofit` is the slug of the nonprofit that it supports; one for several nonprofits has
    /// a path without any.
    pub fn path(&self, nonprofit: &str) -> String {
        path(nonprofit, &self.slug)
    }

    /// Returns its status. Decisions of operators take precedence over those of its owner.
    pub fn status(&self) -> Status {
        if self.hidden_at.is_some() {
            Status::Hidden
        } else if self.in_review_since.is_some() {
            Status::InReview
        } else if self.closed_at.is_some() {
            Status::Closed
        } else {
            Status::Published
        }
    }

    /// Returns whether everyone can see it.
    pub fn is_public(&self) -> bool {
        self.status().is_public()
    }

    /// Returns whether it accepts donations: it is published, and `now` is within its dates.
    pub fn is_active(&self, now: i64) -> bool {
        self.status() == Status::Published
            && self.starts_at.is_none_or(|start| start <= now)
            && self.ends_at.is_none_or(|end| now <= end)
    }

    /// Returns the totals that donations prove, from all of its totals: without the amount that its owner reports.
    pub fn verified(&self, totals: Totals) -> Totals {
        let reported = self.offline.unwrap_or_default();
        Totals {
            raised: Cents::new(totals.raised.get() - reported.get()),
            ..totals
        }
    }

    /// Returns how a donation to it is split.
    pub(crate) fn beneficiaries(&self) -> Beneficiaries {
        beneficiaries(&self.supported)
    }
}

fn beneficiaries(supported: &[(NonprofitId, f64)]) -> Beneficiaries {
    let weights: Vec<f64> = supported.iter().map(|(_, weight)| *weight).collect();
    Beneficiaries {
        nonprofits: supported.iter().map(|(id, _)| *id).collect(),
        // Stored weights were validated when the fundraiser was created.
        weights: Weights::relative(&weights).unwrap_or_else(|| Weights::equal(weights.len())),
    }
}

/// A fundraiser in a URL: its ID or its slug.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FundraiserName {
    Id(FundraiserId),
    Slug(String),
}

impl FundraiserName {
    /// Parses a name. Trims and lowercases a slug. Returns `None` for an invalid name.
    pub fn parse(text: &str) -> Option<FundraiserName> {
        let text = text.trim();
        let is_slug = (1..=slug::MAX_LENGTH).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        match Uuid::try_parse(text) {
            Ok(id) => Some(FundraiserName::Id(FundraiserId(id))),
            Err(_) => is_slug.then(|| FundraiserName::Slug(text.to_ascii_lowercase())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn fundraiser() -> Fundraiser {
        Fundraiser {
            id: FundraiserId::new(),
            nonprofit: SPECIAL,
            slug: "run".to_owned(),
            account: AccountId::new(),
            title: "Run".to_owned(),
            description: None,
            cover: None,
            focus: Focus::default(),
            starts_at: None,
            ends_at: None,
            goal: None,
            offline: None,
            created_at: 0,
            closed_at: None,
            hidden_at: None,
            hidden_reason: None,
            in_review_since: None,
            version: 1,
            supported: Vec::new(),
        }
    }

    #[test]
    fn a_fundraiser_is_active_within_its_dates_until_it_is_closed() {
        let open = fundraiser();
        assert!(open.is_active(i64::MAX));
        let dated = Fundraiser {
            starts_at: Some(10),
            ends_at: Some(20),
            ..open
        };
        assert_eq!(
            [9, 10, 20, 21].map(|now| dated.is_active(now)),
            [false, true, true, false]
        );
        let closed = Fundraiser {
            closed_at: Some(12),
            ..dated
        };
        assert!(!closed.is_active(15));
    }

    #[test]
    fn decisions_of_operators_take_precedence_over_those_of_the_owner() {
        let published = fundraiser();
        let closed = Fundraiser {
            closed_at: Some(1),
            ..published.clone()
        };
        let in_review = Fundraiser {
            in_review_since: Some(1),
            ..closed.clone()
        };
        let hidden = Fundraiser {
            hidden_at: Some(2),
            ..in_review.clone()
        };
        for (fundraiser, status, is_public) in [
            (published, Status::Published, true),
            (closed, Status::Closed, true),
            (in_review, Status::InReview, false),
            (hidden, Status::Hidden, false),
        ] {
            assert_eq!((fundraiser.status(), fundraiser.is_public()), (status, is_public));
            assert_eq!(fundraiser.is_active(5), status == Status::Published);
        }
    }

    #[test]
    fn a_fundraiser_is_named_by_its_id_or_its_slug() {
        assert_eq!(
            FundraiserName::parse(" My-Run "),
            Some(FundraiserName::Slug("my-run".to_owned()))
        );
        let id = "DDACC399-20C5-462E-80E1-97FA958071EA";
        assert_eq!(
            FundraiserName::parse(id),
            Some(FundraiserName::Id(FundraiserId(SPECIAL.0)))
        );
        for invalid in ["", "\0", "a b", "é", &"x".repeat(101)] {
            assert_eq!(FundraiserName::parse(invalid), None, "{invalid:?}");
        }
    }
}
