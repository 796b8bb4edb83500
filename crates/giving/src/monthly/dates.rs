//! Months of gifts, in UTC as Stripe counts them.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

const HOUR_MILLIS: i64 = 3_600_000;
const DAY_MILLIS: i64 = 24 * HOUR_MILLIS;
/// The most months that a gift can be paused.
pub const MAX_PAUSE_MONTHS: i64 = 12;

fn utc(millis: i64) -> Zoned {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    time.to_zoned(TimeZone::UTC)
}

/// Returns the time some months later. In a month that is too short it is the last day.
pub(crate) fn add_months(millis: i64, months: i64) -> i64 {
    let later = utc(millis).checked_add(Span::new().months(months));
    later.map_or(i64::MAX, |later| later.timestamp().as_millisecond())
}

/// Returns the first of the monthly times from `anchor` that is not before `from`.
pub(crate) fn first_from(anchor: i64, from: i64) -> i64 {
    let months = (0..).map(|months| add_months(anchor, months));
    months.take(10_000).find(|time| *time >= from).unwrap_or(i64::MAX)
}

/// Returns when a pause ends that leaves out a number of payments from `next_at` on: a day before the next one.
pub(crate) fn pause_end(next_at: i64, months: i64) -> i64 {
    add_months(next_at, months) - DAY_MILLIS
}

/// Returns when a card expires: at the end of its last month.
pub(crate) fn card_expiry(year: i16, month: i8) -> Option<i64> {
    let first = Date::new(year, month, 1).ok()?;
    let next = first.checked_add(Span::new().months(1)).ok()?;
    let end = next.to_zoned(TimeZone::UTC).ok()?;
    Some(end.timestamp().as_millisecond())
}

/// Returns when the provider is asked about a gift that no event told about: soon after the next payment is due, and at least
/// once a day.
pub(crate) fn check_at(next_charge_at: Option<i64>, now: i64) -> i64 {
    // Stripe charges an hour after the start of a period.
    let soon = next_charge_at.map_or(i64::MAX, |at| at.saturating_add(2 * HOUR_MILLIS));
    let soon = if soon <= now { now + HOUR_MILLIS } else { soon };
    soon.min(now + DAY_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn a_short_month_does_not_move_later_payments() {
        let anchor = millis("2026-01-31T12:00:00Z");
        assert_eq!(add_months(anchor, 1), millis("2026-02-28T12:00:00Z"));
        assert_eq!(
            first_from(anchor, millis("2026-03-01T00:00:00Z")),
            millis("2026-03-31T12:00:00Z")
        );
    }

    #[test]
    fn a_card_expires_at_the_end_of_its_month() {
        assert_eq!(card_expiry(2026, 12), Some(millis("2027-01-01T00:00:00Z")));
        assert_eq!(card_expiry(2026, 13), None);
    }

    #[test]
    fn a_gift_is_checked_after_its_payment_and_once_a_day() {
        let now = millis("2026-01-31T12:00:00Z");
        assert_eq!(check_at(Some(now), now), now + 2 * HOUR_MILLIS);
        assert_eq!(check_at(Some(now - DAY_MILLIS), now), now + HOUR_MILLIS);
        assert_eq!(check_at(None, now), now + DAY_MILLIS);
    }

    proptest! {
        /// A pause of some months leaves out exactly as many payments.
        #[test]
        fn a_pause_leaves_out_as_many_payments_as_months(
            next_at in 1_700_000_000_000_i64..2_000_000_000_000, months in 1..=MAX_PAUSE_MONTHS,
        ) {
            let end = pause_end(next_at, months);
            let left_out = (0..24).map(|month| add_months(next_at, month)).filter(|at| *at < end).count();
            prop_assert_eq!(left_out as i64, months);
            prop_assert_eq!(first_from(next_at, end), add_months(next_at, months));
        }
    }
}
