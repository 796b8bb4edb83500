//! Checks of payments by Stripe: the key and its account, the clock, the endpoints and the events.

use super::finding::Finding;
use crate::config::Config;
use access::accounts::store::summaries;
use giving::checkout::store as checkout;
use giving::payments::store as payments;
use giving::providers::Provider;
use giving::providers::stripe::EVENT_KINDS;
use giving::providers::stripe::client::{Client, StripeError};
use giving::providers::stripe::objects::{Account, WebhookEndpoint};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use platform::clock::{Clock, rfc3339};
use platform::db::Db;
use platform::public_url::PublicUrl;

const ACCOUNT: &str = "stripe";
const CLOCK: &str = "stripe clock";
const WEBHOOK: &str = "webhook";
const EVENTS: &str = "events";
const DISBURSEMENT: &str = "disbursement";

/// Signatures of events are accepted for 300 seconds, and their delivery takes a part of them.
const MAX_CLOCK_DIFFERENCE_SECONDS: i64 = 60;
const MINUTE_MILLIS: i64 = 60_000;
/// How long Stripe may take to send the event of a payment.
const EVENT_DELAY_MILLIS: i64 = 10 * MINUTE_MILLIS;
/// A session that is not paid ends after 24 hours, which is an event too.
const SESSION_MILLIS: i64 = 25 * 60 * MINUTE_MILLIS;

/// Examines payments. Returns nothing unless the provider is Stripe.
pub(super) async fn examine(config: &Config, db: Option<&Db>) -> Vec<Finding> {
    let Provider::Stripe(mode) = config.giving else {
        return Vec::new();
    };
    let settings = &config.stripe;
    let client = match Client::new(&settings.api_base, settings.secret_key.clone()) {
        Ok(client) => client,
        Err(error) => {
            let seen = format!("no client could be created: {error}");
            return vec![Finding::problem(ACCOUNT, seen, "check stripe.api_base")];
        }
    };
    let asked = client.find_account().await;
    let now = Clock::default().millis();
    let mut findings = Vec::new();
    match asked {
        Ok((found, date)) => {
            findings.push(account(&found, mode.is_test()));
            findings.push(clock(date.as_deref(), now));
            let url = format!("{}/webhooks/stripe", PublicUrl::new(&config.public_url));
            let needed = if settings.is_connect() { 2 } else { 1 };
            let listed = client.list_webhook_endpoints().await;
            findings.push(endpoints(&listed, &url, needed, mode.is_test()));
        }
        Err(error) => findings.push(refused(&error)),
    }
    findings.push(events(config, db, now).await);
    findings.push(approval(config, db).await);
    findings
}

/// Whether somebody can approve batches of payments.
async fn approval(config: &Config, db: Option<&Db>) -> Finding {
    if !config.disburse.second_operator {
        return Finding::warning(
            DISBURSEMENT,
            "one operator alone can prepare and approve payments to nonprofits",
            "set disburse.second_operator to true when there are two operators",
        );
    }
    let operators = match db {
        Some(db) => summaries::count_operators(db).await.unwrap_or(0),
        None => 0,
    };
    if operators < 2 {
        return Finding::warning(
            DISBURSEMENT,
            "payments to nonprofits need the approval of a second operator, and there is none",
            "run causeway account operator USERNAME on; or set disburse.second_operator to false, which lets one person send money to any bank account",
        );
    }
    Finding::ok(
        DISBURSEMENT,
        "a second operator can approve payments to nonprofits",
    )
}

/// Whether the account can charge, and whether it charges real money.
fn account(account: &Account, is_test: bool) -> Finding {
    let id = &account.id;
    if !account.charges_enabled {
        return Finding::problem(
            ACCOUNT,
            format!("the key works, but the account {id} cannot take payments"),
            "complete the account in Stripe's dashboard, which lists what is missing",
        );
    }
    if is_test {
        return Finding::warning(
            ACCOUNT,
            format!("the key of the account {id} works in test mode, so no money is charged"),
            "to take real donations, set stripe.secret_key to a live key, and stripe.webhook_secret to the secret of a live endpoint",
        );
    }
    Finding::ok(
        ACCOUNT,
        format!("the key works in live mode, and the account {id} can take payments"),
    )
}

fn refused(error: &StripeError) -> Finding {
    let remedy = match error {
        StripeError::Refused { .. } => "set stripe.secret_key to a key of the account that is not revoked",
        StripeError::Unknown(_) | StripeError::Unavailable(_) => {
            "check that this machine can reach the API of Stripe, and stripe.api_base if it is set"
        }
    };
    Finding::problem(ACCOUNT, error.to_string(), remedy)
}

/// Whether Stripe's clock and ours agree. Events are refused if they seem to be old.
fn clock(date: Option<&str>, now: i64) -> Finding {
    let date = date.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
    let Some(seconds) = date.map(|date: Timestamp| now / 1_000 - date.as_second()) else {
        return Finding::ok(CLOCK, "not compared, because Stripe did not send the time");
    };
    let apart = seconds.abs();
    if apart > MAX_CLOCK_DIFFERENCE_SECONDS {
        let direction = if seconds > 0 { "ahead of" } else { "behind" };
        return Finding::problem(
            CLOCK,
            format!("the clock of this machine is {apart} seconds {direction} Stripe's"),
            "synchronize the clock, for example with systemd-timesyncd; events with another time are refused",
        );
    }
    Finding::ok(CLOCK, "agrees with the clock of this machine")
}

/// Whether Stripe has endpoints that send all events here: one, and another one for connected accounts if there are any. Their
/// secrets cannot be read, so a wrong one shows in the events that are missing.
fn endpoints(
    listed: &Result<Vec<WebhookEndpoint>, StripeError>,
    url: &str,
    needed: usize,
    is_test: bool,
) -> Finding {
    let listed = match listed {
        Ok(listed) => listed,
        Err(error) => {
            return Finding::warning(
                WEBHOOK,
                format!("the endpoints could not be listed: {error}"),
                "let the restricted key read webhook endpoints, or compare them with docs/giving.md in Stripe's dashboard",
            );
        }
    };
    let enabled: Vec<_> = listed
        .iter()
        .filter(|endpoint| endpoint.url == url && endpoint.status == "enabled")
        .collect();
    if enabled.len() < needed {
        let seen = format!(
            "Stripe has {} enabled endpoints for {url}, and needs {needed}",
            enabled.len()
        );
        let remedy = if needed > 1 {
            "add one endpoint for your account and one for connected accounts in Stripe's dashboard, and set their secrets"
        } else {
            "add the endpoint in Stripe's dashboard, and set stripe.webhook_secret to its secret"
        };
        // The command line of Stripe forwards test events without an endpoint.
        return if is_test {
            Finding::warning(WEBHOOK, seen, remedy)
        } else {
            Finding::problem(WEBHOOK, seen, remedy)
        };
    }
    let missing: Vec<&str> = EVENT_KINDS
        .into_iter()
        .filter(|kind| {
            let sends = |sent: &String| sent == "*" || sent == kind;
            !enabled
                .iter()
                .all(|endpoint| endpoint.enabled_events.iter().any(sends))
        })
        .collect();
    if missing.is_empty() {
        return Finding::ok(WEBHOOK, format!("Stripe sends all events to {url}"));
    }
    Finding::problem(
        WEBHOOK,
        format!(
            "Stripe does not send these events to {url}: {}",
            missing.join(", ")
        ),
        "add them to the endpoint in Stripe's dashboard",
    )
}

/// Whether Stripe sends events to this store.
async fn events(config: &Config, db: Option<&Db>, now: i64) -> Finding {
    const REMEDY: &str = "check in Stripe's dashboard that a webhook endpoint sends events to /webhooks/stripe of public_url, and that stripe.webhook_secret is its secret";
    let Some(db) = db else {
        return Finding::warning(
            EVENTS,
            "not checked, because the store cannot be read",
            "see store",
        );
    };
    let checked = async {
        let provider = config.giving.name();
        let last = payments::find_last_event(db, provider).await?;
        let (paid, started) = (now - EVENT_DELAY_MILLIS, now - SESSION_MILLIS);
        let missed =
            checkout::count_without_event(db, provider, last.unwrap_or_default(), paid, started).await?;
        Ok::<_, sqlx::Error>((last, missed))
    };
    match checked.await {
        Ok((last, missed @ 1..)) => {
            let seen = match last {
                Some(at) => format!(
                    "Stripe sent none since {}, but donations since then should have caused some: {missed}",
                    rfc3339(at)
                ),
                None => format!("Stripe sent none, but donations should have caused some: {missed}"),
            };
            Finding::problem(EVENTS, seen, REMEDY)
        }
        Ok((Some(at), _)) => Finding::ok(EVENTS, format!("the last one came at {}", rfc3339(at))),
        Ok((None, _)) => Finding::ok(EVENTS, "none yet; a webhook secret is set"),
        // A store that has not been migrated has no table of events.
        Err(error) => Finding::warning(
            EVENTS,
            format!("not checked, because the store cannot be read: {error}"),
            "see store",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::Status;

    #[test]
    fn a_clock_that_is_more_than_a_minute_off_is_a_problem() {
        let date = "Wed, 18 Nov 2026 12:00:00 GMT";
        let noon = 1_795_003_200;
        for (seconds, status, text) in [
            (0, Status::Ok, "agrees"),
            (60, Status::Ok, "agrees"),
            (61, Status::Problem, "61 seconds ahead of Stripe's"),
            (-3_600, Status::Problem, "3600 seconds behind Stripe's"),
        ] {
            let finding = clock(Some(date), (noon + seconds) * 1_000);
            assert_eq!(finding.status, status, "{seconds}");
            assert!(finding.seen.contains(text), "{}", finding.seen);
        }
        assert_eq!(clock(Some("noon"), 0).status, Status::Ok);
        assert_eq!(clock(None, 0).status, Status::Ok);
    }

    #[test]
    fn an_account_that_cannot_charge_is_a_problem() {
        let of = |charges_enabled, is_test| {
            let found = Account {
                id: "acct_1".to_owned(),
                charges_enabled,
            };
            account(&found, is_test).status
        };
        assert_eq!(of(true, false), Status::Ok);
        assert_eq!(of(true, true), Status::Warning);
        assert_eq!(of(false, false), Status::Problem);
    }
    #[test]
    fn every_kind_of_event_needs_an_enabled_endpoint() {
        let endpoint = |status: &str, events: &[&str]| WebhookEndpoint {
            url: "https://giving.example.org/webhooks/stripe".to_owned(),
            status: status.to_owned(),
            enabled_events: events.iter().map(|kind| (*kind).to_owned()).collect(),
        };
        let all = || endpoint("enabled", &EVENT_KINDS);
        let judge = |listed: Vec<WebhookEndpoint>, needed, is_test| {
            let url = "https://giving.example.org/webhooks/stripe";
            let finding = endpoints(&Ok(listed), url, needed, is_test);
            (finding.status, finding.seen)
        };
        assert_eq!(judge(vec![all()], 1, false).0, Status::Ok);
        assert_eq!(judge(vec![endpoint("enabled", &["*"])], 1, false).0, Status::Ok);
        assert_eq!(judge(vec![all(), all()], 2, false).0, Status::Ok);
        assert_eq!(judge(vec![all()], 2, false).0, Status::Problem);
        let elsewhere = WebhookEndpoint {
            url: "https://giving.example.org/".to_owned(),
            ..all()
        };
        for none in [vec![], vec![endpoint("disabled", &["*"])], vec![elsewhere]] {
            assert_eq!(judge(none.clone(), 1, false).0, Status::Problem);
            assert_eq!(judge(none, 1, true).0, Status::Warning);
        }
        let (status, seen) = judge(vec![all(), endpoint("enabled", &EVENT_KINDS[1..])], 2, true);
        assert_eq!(status, Status::Problem);
        assert!(seen.ends_with(": checkout.session.completed"), "{seen}");
        let refused = StripeError::Unavailable("no connection".to_owned());
        assert_eq!(endpoints(&Err(refused), "", 1, false).status, Status::Warning);
    }

    #[test]
    fn the_guide_lists_every_kind_of_event() {
        let guide = include_str!("../../../docs/giving.md");
        for kind in EVENT_KINDS {
            assert!(
                guide.contains(&format!("{kind} ")) || guide.contains(&format!("{kind}\n")),
                "{kind}"
            );
        }
    }
}
