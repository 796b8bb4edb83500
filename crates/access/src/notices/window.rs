//! Limits how often the owner of an account is emailed about one kind of event: what exceeds the limit waits for a summary.
//! Does no I/O.

pub(super) const HOUR_MILLIS: i64 = 60 * 60 * 1_000;
/// The events that a summary lists. It counts all of them.
const MAX_LINES: usize = 50;

/// The last emails of a kind to an account, and what waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    /// The times of the last emails, oldest first.
    pub sent_at: Vec<i64>,
    pub waiting: i64,
    pub waiting_since: Option<i64>,
    /// One line for each event that waits, up to a limit.
    pub lines: String,
}

/// The events that have waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub count: i64,
    pub lines: String,
}

impl Window {
    /// Returns whether an email about an event may be sent now, if there may be `max_per_hour` within any hour. Otherwise the
    /// event waits for the summary, as do all that follow it.
    pub(super) fn admit(&mut self, max_per_hour: usize, line: &str, now: i64) -> bool {
        self.forget_old(now);
        if self.waiting == 0 && self.sent_at.len() < max_per_hour {
            self.sent_at.push(now);
            return true;
        }
        self.waiting += 1;
        self.waiting_since = Some(self.waiting_since.unwrap_or(now));
        if self.lines.lines().count() < MAX_LINES {
            // A title can have any characters.
            let line = line.replace(|c: char| c.is_control(), " ");
            self.lines.push_str(&line);
            self.lines.push('\n');
        }
        false
    }

    /// Takes the summary of what waits, if the first event has waited for an hour.
    pub(super) fn take_summary(&mut self, now: i64) -> Option<Summary> {
        if self.waiting_since.is_none_or(|since| since > now - HOUR_MILLIS) {
            return None;
        }
        self.forget_old(now);
        self.sent_at.push(now);
        self.waiting_since = None;
        Some(Summary {
            count: std::mem::take(&mut self.waiting),
            lines: std::mem::take(&mut self.lines),
        })
    }

    fn forget_old(&mut self, now: i64) {
        self.sent_at.retain(|at| *at > now - HOUR_MILLIS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn the_eleventh_email_within_an_hour_waits_for_the_summary() {
        let mut window = Window::default();
        for at in 0..10 {
            assert!(window.admit(10, "", at));
        }
        assert!(!window.admit(10, "$25.00\nto us", 10));
        assert!(!window.admit(10, "$5.00", HOUR_MILLIS + 5));
        assert_eq!(window.take_summary(HOUR_MILLIS + 9), None);
        let summary = Summary {
            count: 2,
            lines: "$25.00 to us\n$5.00\n".to_owned(),
        };
        assert_eq!(window.take_summary(HOUR_MILLIS + 10), Some(summary));
        assert!(window.admit(10, "", HOUR_MILLIS + 11));
        assert_eq!(window.take_summary(3 * HOUR_MILLIS), None);
    }

    proptest! {
        #[test]
        fn no_hour_has_more_emails_than_allowed_and_every_event_is_in_one(
            pauses in vec(0..2 * HOUR_MILLIS / 10, 0..200),
            max in prop_oneof![Just(1_usize), Just(10)],
        ) {
            let (mut window, mut now, mut sent, mut summarized) = (Window::default(), 0, Vec::new(), 0);
            for pause in &pauses {
                now += pause;
                if let Some(summary) = window.take_summary(now) {
                    prop_assert!(summary.lines.lines().count() == (summary.count as usize).min(MAX_LINES));
                    summarized += summary.count as usize;
                    sent.push((now, 0));
                }
                if window.admit(max, "x", now) {
                    sent.push((now, 1));
                }
            }
            let last = window.take_summary(now + HOUR_MILLIS).map_or(0, |summary| summary.count as usize);
            let alone: usize = sent.iter().map(|(_, events)| events).sum();
            prop_assert_eq!(alone + summarized + last, pauses.len());
            for (index, (at, _)) in sent.iter().enumerate() {
                let before = sent[..index].iter().filter(|(earlier, _)| at - earlier < HOUR_MILLIS);
                prop_assert!(before.count() < max);
            }
        }
    }
}
