//! When an email is sent again after a failure. Does no I/O.

/// How long after a first failure an email is sent again, and the longest pause between two attempts.
const FIRST_DELAY_MILLIS: i64 = 30_000;
const MAX_DELAY_MILLIS: i64 = 30 * 60_000;

/// How long an email is retried before it is given up.
pub(crate) const MAX_AGE_MILLIS: i64 = 3 * 24 * 60 * 60 * 1_000;

/// Returns the pause after a number of failed attempts: 30 seconds, then twice as long each time, up to half an hour.
pub(crate) fn delay_millis(attempts: i64) -> i64 {
    let doublings = (attempts - 1).clamp(0, 30) as u32;
    FIRST_DELAY_MILLIS
        .saturating_mul(1 << doublings)
        .min(MAX_DELAY_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_half_an_hour() {
        let seconds = |attempts| delay_millis(attempts) / 1_000;
        assert_eq!([1, 2, 3, 4].map(seconds), [30, 60, 120, 240]);
        assert_eq!([7, 8, 1_000, i64::MAX].map(seconds), [1_800; 4]);
        assert_eq!(seconds(0), 30);
    }
}
