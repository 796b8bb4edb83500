//! Checks of giving beyond Stripe: the payment link, and monthly donations with any provider.

use super::finding::Finding;
use crate::config::Config;
use giving::monthly::store::{self as monthly, ProviderGifts};
use giving::payments::store as payments;
use giving::providers::{Provider, stripe};
use platform::clock::{Clock, rfc3339};
use platform::db::Db;
use secrecy::ExposeSecret;

const LINK: &str = "payment link";
const MONTHLY: &str = "monthly";
const NO_STORE: &str = "not checked, because the store cannot be read";
/// The server looks for gifts that are due every minute, and looks at up to a hundred of them.
const OVERDUE_MILLIS: i64 = 2 * 3_600_000;

/// Whether the processor behind the payment link reports payments. Returns nothing with another provider.
pub(super) async fn payment_link(config: &Config, db: Option<&Db>) -> Option<Finding> {
    if !matches!(config.giving, Provider::Link(_)) {
        return None;
    }
    if config.link_secret.expose_secret().is_empty() {
        return Some(Finding::warning(
            LINK,
            "no payment is reported, because giving.link_secret is not set",
            "set it and let the processor post to /webhooks/link, or enter payments with causeway donation record",
        ));
    }
    let Some(db) = db else {
        return Some(Finding::warning(LINK, NO_STORE, "see store"));
    };
    Some(match payments::find_last_event(db, config.giving.name()).await {
        Ok(Some(at)) => Finding::ok(LINK, format!("the last report came at {}", rfc3339(at))),
        Ok(None) => Finding::ok(LINK, "no report yet; a secret is set"),
        // A store that has not been migrated has no table of events.
        Err(error) => Finding::warning(LINK, format!("{NO_STORE}: {error}"), "see store"),
    })
}

/// Whether somebody looks after monthly donations.
pub(super) async fn monthly_donations(config: &Config, db: Option<&Db>) -> Finding {
    let Some(db) = db else {
        return Finding::warning(MONTHLY, NO_STORE, "see store");
    };
    let now = Clock::default().millis();
    match monthly::summarize(db, now - OVERDUE_MILLIS).await {
        Ok(gifts) => judge(&gifts, |gifts| is_watched(config, gifts)),
        Err(error) => Finding::warning(MONTHLY, format!("{NO_STORE}: {error}"), "see store"),
    }
}

/// Returns whether this server can ask the provider of gifts. The key of Stripe is enough, also with another provider.
fn is_watched(config: &Config, gifts: &ProviderGifts) -> bool {
    if gifts.provider == Provider::Test.name() {
        return true;
    }
    gifts.provider == stripe::NAME && config.stripe.mode().is_ok_and(|mode| mode == gifts.mode)
}

fn judge(gifts: &[ProviderGifts], is_watched: impl Fn(&ProviderGifts) -> bool) -> Finding {
    let all: i64 = gifts.iter().map(|gifts| gifts.gifts).sum();
    if let Some(lost) = gifts.iter().find(|gifts| !is_watched(gifts)) {
        return Finding::problem(
            MONTHLY,
            format!(
                "nobody looks after these donations with {} in {} mode, which may still be charged: {}",
                lost.provider,
                lost.mode.as_str(),
                lost.gifts
            ),
            "set stripe.secret_key and stripe.webhook_secret to those with which they were started",
        );
    }
    let overdue: i64 = gifts.iter().map(|gifts| gifts.overdue).sum();
    if overdue > 0 {
        return Finding::problem(
            MONTHLY,
            format!("{overdue} of {all} have not been looked at for more than two hours"),
            "start the server, and look for errors of the jobs \"payments at Stripe\" and \"monthly gifts\" in its log",
        );
    }
    match all {
        0 => Finding::ok(MONTHLY, "none yet"),
        all => Finding::ok(MONTHLY, format!("all {all} are looked after")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::Status;
    use giving::ledger::entry::Mode;

    #[test]
    fn gifts_that_nobody_looks_after_are_a_problem() {
        let gifts = |overdue| ProviderGifts {
            provider: "stripe".to_owned(),
            mode: Mode::Live,
            gifts: 7,
            overdue,
        };
        let status = |gifts: &[ProviderGifts], watched| judge(gifts, |_| watched).status;
        assert_eq!(status(&[], false), Status::Ok);
        assert_eq!(status(&[gifts(0)], true), Status::Ok);
        assert_eq!(status(&[gifts(1)], true), Status::Problem);
        assert_eq!(status(&[gifts(0)], false), Status::Problem);
    }
}
