//! The postings of each kind of entry in the books. Each function returns postings that add up to zero.

use super::movement::FeesPaidBy;
use crate::ledger::entry::{Account, Draft, Kind, Party, Posting};
use platform::ids::NonprofitId;
use platform::money::{AmountOverflow, Cents, Weights, split};

/// What an account gets.
fn posting(account: Account, amount: Cents) -> Posting {
    Posting {
        party: Party::Account(account),
        amount,
    }
}

/// Returns whether a balance transaction can settle an entry of this kind.
pub(crate) const fn is_settled(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Donation | Kind::Refund | Kind::Dispute | Kind::RefundFailed | Kind::DisputeWon
    )
}

/// The settlement of an entry: what its nonprofits got is owed to them, and what they returned no longer is.
///
/// If nonprofits pay the fee of a charge, it is split in proportion to their shares.
pub(crate) fn settlement(
    settled: &Draft,
    fee: Cents,
    fees_paid_by: FeesPaidBy,
) -> Result<Vec<Posting>, AmountOverflow> {
    let shares = || {
        settled.postings.iter().filter_map(|posting| match posting.party {
            Party::Nonprofit(id) => Some((id, posting.amount)),
            _ => None,
        })
    };
    let gross = Cents::sum(shares().map(|(_, share)| share))?;
    let mut postings = vec![posting(Account::Cash, gross.plus(fee.reversed())?)];
    if fee != Cents::ZERO {
        postings.push(posting(Account::Fees, fee));
    }
    postings.extend(shares().map(|(id, share)| posting(Account::Owed(id), share.reversed())));
    let nonprofits_pay = fees_paid_by == FeesPaidBy::Nonprofit && settled.kind == Kind::Donation;
    let amounts: Vec<Cents> = shares().map(|(_, share)| share).collect();
    if let Some(weights) = Weights::of_balances(&amounts).filter(|_| nonprofits_pay && fee > Cents::ZERO) {
        let parts = shares().zip(split(fee, &weights));
        postings.extend(parts.map(|((id, _), part)| posting(Account::Owed(id), part)));
        postings.push(posting(Account::Operator, fee.reversed()));
    }
    Ok(postings)
}

/// A balance transaction that belongs to no donation: the operator's gain or cost.
pub(crate) fn other(net: Cents) -> Vec<Posting> {
    vec![
        posting(Account::Cash, net),
        posting(Account::Operator, net.reversed()),
    ]
}

/// A payout, or its failure: `amount` is what the bank account gets.
pub(crate) fn payout(amount: Cents, fee: Cents) -> Result<Vec<Posting>, AmountOverflow> {
    let mut postings = vec![
        posting(Account::Cash, amount.plus(fee)?.reversed()),
        posting(Account::Bank, amount),
    ];
    if fee != Cents::ZERO {
        postings.push(posting(Account::Fees, fee));
    }
    Ok(postings)
}

/// A payment to a nonprofit.
pub(crate) fn disbursement(nonprofit: NonprofitId, amount: Cents) -> Vec<Posting> {
    vec![
        posting(Account::Bank, amount.reversed()),
        posting(Account::Owed(nonprofit), amount),
    ]
}

/// An amount that is owed to another nonprofit from now on.
pub(crate) fn reassignment(from: NonprofitId, to: NonprofitId, amount: Cents) -> Vec<Posting> {
    vec![
        posting(Account::Owed(from), amount),
        posting(Account::Owed(to), amount.reversed()),
    ]
}

/// The sum of the postings of an account.
pub(crate) fn amount_of(postings: &[Posting], account: Account) -> Cents {
    let own = postings
        .iter()
        .filter(|posting| posting.party == Party::Account(account));
    Cents::sum(own.map(|posting| posting.amount)).unwrap_or_default()
}

/// Who paid the fee of a settlement, as its postings say.
pub(crate) fn fees_paid_by(postings: &[Posting]) -> FeesPaidBy {
    let has_operator = postings
        .iter()
        .any(|posting| posting.party == Party::Account(Account::Operator));
    if has_operator {
        FeesPaidBy::Nonprofit
    } else {
        FeesPaidBy::Operator
    }
}
