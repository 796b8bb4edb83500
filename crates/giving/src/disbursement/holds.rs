//! What is owed to each nonprofit, how much of it can be paid now, and why the rest is held.

use super::batches::store::{self, KnownPayee};
use super::payees::{Address, Method, Payee};
use super::plan::{DueRule, OwedEntry, oldest_unpaid, plan};
use super::{DisburseError, Disbursements};
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::store::find_mailing_address;
use platform::ids::NonprofitId;
use platform::money::{AmountOverflow, Cents};

/// Why an amount is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The nonprofit can no longer receive donations.
    NotEligible,
    /// Nobody knows how to pay the nonprofit.
    NoPayee,
    /// It gets checks, and neither the payee nor the files of the IRS have an address.
    NoAddress,
    /// How it is paid was changed.
    PayeeChanged {
        until: i64,
    },
    /// The last payment came back, and the payee is still the same.
    PayeeReturned {
        batch: i64,
        line: i64,
    },
    /// Refunds took back more than was given since.
    BelowZero,
    BelowMinimum,
    /// The donations are younger than `disburse.hold_days`, or the money is not available yet.
    NotDue,
}

impl Hold {
    /// The name in JSON and in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Hold::NotEligible => "not_eligible",
            Hold::NoPayee => "no_payee",
            Hold::NoAddress => "no_address",
            Hold::PayeeChanged { .. } => "payee_changed",
            Hold::PayeeReturned { .. } => "payee_returned",
            Hold::BelowZero => "below_zero",
            Hold::BelowMinimum => "below_minimum",
            Hold::NotDue => "not_due",
        }
    }

    /// Says why, and what can be done.
    pub const fn reason(self) -> &'static str {
        match self {
            Hold::NotEligible => "It cannot receive donations now: tell the donors, and reassign the money.",
            Hold::NoPayee => "Nobody knows how to pay it: add its payee.",
            Hold::NoAddress => "It gets checks, but no address is known: add one to its payee.",
            Hold::PayeeChanged { .. } => {
                "How it is paid was changed: call the nonprofit to confirm the change."
            }
            Hold::PayeeReturned { .. } => "The last payment came back: change its payee.",
            Hold::BelowZero => {
                "Refunds took back more than was given since: it is offset against the next donations."
            }
            Hold::BelowMinimum => "It is less than the smallest payment.",
            Hold::NotDue => "The donations are too recent, or Stripe has not made the money available.",
        }
    }
}

/// A nonprofit to which something may be owed.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub nonprofit: NonprofitId,
    pub name: String,
    pub ein: Option<String>,
    /// Two letters; empty if unknown.
    pub state: String,
    pub is_eligible: bool,
    /// The address in the files of the IRS.
    pub filed_address: Address,
}

impl Candidate {
    /// Returns where checks to a payee go.
    pub(super) fn address_of(&self, payee: &Payee) -> Address {
        if payee.address.is_empty() {
            self.filed_address.clone()
        } else {
            payee.address.clone()
        }
    }
}

/// What can be paid to a nonprofit now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// What is owed and in no batch.
    pub owed: Cents,
    pub payable: Cents,
    /// The entries that are paid with it.
    pub included: Vec<i64>,
    pub holds: Vec<(Hold, Cents)>,
}

impl Verdict {
    /// Decides what can be paid to a nonprofit.
    pub(super) fn of(
        candidate: &Candidate,
        entries: &[OwedEntry],
        payee: Option<&KnownPayee>,
        rule: &DueRule,
        minimum: Cents,
    ) -> Result<Verdict, AmountOverflow> {
        let planned = plan(entries, rule)?;
        let mut holds = Vec::new();
        if planned.waiting > Cents::ZERO {
            holds.push((Hold::NotDue, planned.waiting));
        }
        let hold = find_hold(candidate, payee, rule.now).or_else(|| {
            if planned.amount < Cents::ZERO {
                Some(Hold::BelowZero)
            } else {
                (planned.amount < minimum).then_some(Hold::BelowMinimum)
            }
        });
        let hold = hold.filter(|_| planned.amount != Cents::ZERO);
        holds.extend(hold.map(|hold| (hold, planned.amount)));
        let is_paid = hold.is_none() && planned.amount > Cents::ZERO;
        Ok(Verdict {
            owed: planned.amount.plus(planned.waiting)?,
            payable: if is_paid { planned.amount } else { Cents::ZERO },
            included: if is_paid { planned.included } else { Vec::new() },
            holds,
        })
    }
}

/// Returns why nothing can be paid to a nonprofit, whatever is owed.
fn find_hold(candidate: &Candidate, payee: Option<&KnownPayee>, now: i64) -> Option<Hold> {
    if !candidate.is_eligible {
        return Some(Hold::NotEligible);
    }
    let Some(KnownPayee { payee, returned }) = payee else {
        return Some(Hold::NoPayee);
    };
    if let Some((batch, line)) = *returned {
        return Some(Hold::PayeeReturned { batch, line });
    }
    if let Some(until) = payee.held_until.filter(|until| *until > now) {
        return Some(Hold::PayeeChanged { until });
    }
    let needs_address = payee.method == Method::Check && !candidate.address_of(payee).is_complete();
    needs_address.then_some(Hold::NoAddress)
}

/// What is owed to a nonprofit, for operators.
#[derive(Clone, Debug)]
pub struct OwedStanding {
    pub candidate: Candidate,
    pub payee: Option<Payee>,
    /// What is owed and in no batch.
    pub owed: Cents,
    /// What the next batch pays.
    pub payable: Cents,
    pub holds: Vec<(Hold, Cents)>,
    /// When the oldest donation was made that is not paid.
    pub oldest_at: Option<i64>,
}

impl OwedStanding {
    /// Returns whether a donation waits longer than it may.
    pub fn is_overdue(&self, now: i64, max_millis: i64) -> bool {
        self.oldest_at.is_some_and(|at| at < now - max_millis)
    }
}

impl Disbursements<'_> {
    /// Lists the donations to a nonprofit that are in no batch and older than `disburse.max_days`.
    pub async fn list_overdue_donors(
        self,
        nonprofit: NonprofitId,
    ) -> Result<Vec<store::OverdueDonation>, DisburseError> {
        let before = self.clock.millis() - self.settings.max_millis();
        Ok(store::list_overdue(self.db, self.mode, nonprofit, before).await?)
    }

    /// Returns when donations are due. `until`: only those made before then.
    pub(super) fn due_rule(self, until: Option<i64>) -> DueRule {
        let now = self.clock.millis();
        let held_since = now - self.settings.hold_millis() + 1;
        DueRule {
            now,
            given_before: until.map_or(held_since, |until| until.min(held_since)),
        }
    }

    /// Lists what is owed to each nonprofit and in no batch, those that wait longest first.
    pub async fn list_owed(self, until: Option<i64>) -> Result<Vec<OwedStanding>, DisburseError> {
        self.refresh_owed().await?;
        let rule = self.due_rule(until);
        let mut standings = Vec::new();
        for candidate in self.list_candidates().await? {
            let mut tx = self.db.view().await?;
            let entries = store::list_open_of(&mut tx, self.mode, candidate.nonprofit).await?;
            let known = store::find_payee(&mut tx, candidate.nonprofit).await?;
            drop(tx);
            let verdict = Verdict::of(&candidate, &entries, known.as_ref(), &rule, self.settings.minimum)?;
            if verdict.owed == Cents::ZERO && verdict.holds.is_empty() {
                continue;
            }
            standings.push(OwedStanding {
                oldest_at: oldest_unpaid(&entries),
                payee: known.map(|known| known.payee),
                owed: verdict.owed,
                payable: verdict.payable,
                holds: verdict.holds,
                candidate,
            });
        }
        Ok(standings)
    }

    /// Lists the nonprofits that have entries in no batch, those with the oldest first.
    pub(super) async fn list_candidates(self) -> Result<Vec<Candidate>, DisburseError> {
        let mut candidates = Vec::new();
        for nonprofit in store::list_open_nonprofits(self.db, self.mode).await? {
            candidates.push(self.find_candidate(nonprofit).await?);
        }
        Ok(candidates)
    }

    pub(super) async fn find_candidate(self, id: NonprofitId) -> Result<Candidate, DisburseError> {
        let found = self.directory.find(&Identifier::Id(id)).await?;
        let Some(nonprofit) = found.as_ref().and_then(NonprofitRef::nonprofit) else {
            return Ok(Candidate {
                nonprofit: id,
                name: id.to_string(),
                ein: None,
                state: String::new(),
                is_eligible: false,
                filed_address: Address::default(),
            });
        };
        let filed = find_mailing_address(self.db, id).await?.unwrap_or_default();
        Ok(Candidate {
            nonprofit: id,
            name: match nonprofit.legal_name {
                "" => nonprofit.name.to_owned(),
                legal => legal.to_owned(),
            },
            ein: nonprofit.ein.map(|ein| ein.to_string()),
            state: nonprofit.state.to_owned(),
            is_eligible: nonprofit.can_be_paid(),
            filed_address: Address {
                street: filed.street,
                city: filed.city,
                state: filed.state,
                zip: filed.zip,
            },
        })
    }
}
