//! Audits entries of the books: computes their postings again from the entry that they follow from.

use super::balances::Balances;
use super::postings;
use crate::ledger::entry::{Account, Draft, Entry, Kind, Party, Posting};
use platform::ids::NonprofitId;
use platform::money::Cents;

/// Returns what is wrong with an entry of the books, as the end of a sentence. `balances` include the entry.
pub(crate) fn find_error(entry: &Entry, origin: Option<&Entry>, balances: &Balances) -> Option<&'static str> {
    let draft = &entry.draft;
    let is_about_money_only = draft.fundraiser.is_none()
        && draft.donor.is_none()
        && draft.refunds.is_none()
        && draft.origin == origin.map(|origin| origin.sequence)
        && origin.is_none_or(|origin| origin.sequence < entry.sequence)
        && draft.postings.first().map(|first| first.amount) == Some(draft.amount);
    if !is_about_money_only {
        return Some("has fields that no entry of its kind has");
    }
    if origin.is_some_and(|origin| origin.draft.mode != draft.mode) {
        return Some("has another mode than the entry that it follows from");
    }
    if expected(draft, origin).as_ref() != Some(&draft.postings) {
        return Some("does not have the postings that follow from its kind and its amounts");
    }
    let paid = matches!(draft.kind, Kind::Disbursement | Kind::Reassignment)
        .then(|| draft.postings.iter().find_map(receiving_nonprofit))
        .flatten();
    match paid {
        Some(nonprofit) if balances.owed(draft.mode, nonprofit) < Cents::ZERO => {
            Some("moves more than was owed to the nonprofit")
        }
        _ => None,
    }
}

/// Computes the postings of an entry from its amounts and from its origin. `None` if they make no sense for its kind.
fn expected(draft: &Draft, origin: Option<&Entry>) -> Option<Vec<Posting>> {
    let of = |account| postings::amount_of(&draft.postings, account);
    match (draft.kind, origin) {
        (Kind::Settlement, Some(settled)) if postings::is_settled(settled.draft.kind) => {
            let fees_paid_by = postings::fees_paid_by(&draft.postings);
            postings::settlement(&settled.draft, of(Account::Fees), fees_paid_by).ok()
        }
        (Kind::Settlement, None) => Some(postings::other(draft.amount)),
        (Kind::Payout, None) => postings::payout(of(Account::Bank), of(Account::Fees)).ok(),
        (Kind::Disbursement, None) => {
            let amount = Cents::positive(of(Account::Bank).reversed().get())?;
            Some(postings::disbursement(draft.nonprofit?, amount))
        }
        (Kind::DisbursementReturned, Some(returned)) if returned.draft.kind == Kind::Disbursement => {
            Some(returned.draft.postings.iter().map(Posting::reversed).collect())
        }
        (Kind::Reassignment, None) => {
            draft.note.as_ref()?;
            let from = draft.postings.iter().find_map(receiving_nonprofit)?;
            let to = draft
                .postings
                .iter()
                .filter_map(nonprofit_of)
                .find(|id| *id != from)?;
            Some(postings::reassignment(
                from,
                to,
                Cents::positive(draft.amount.get())?,
            ))
        }
        _ => None,
    }
}

/// The nonprofit of an `owed` posting.
fn nonprofit_of(posting: &Posting) -> Option<NonprofitId> {
    match posting.party {
        Party::Account(Account::Owed(id)) => Some(id),
        _ => None,
    }
}

/// The nonprofit of an `owed` posting above zero, which is owed less from then on.
fn receiving_nonprofit(posting: &Posting) -> Option<NonprofitId> {
    nonprofit_of(posting).filter(|_| posting.amount > Cents::ZERO)
}
