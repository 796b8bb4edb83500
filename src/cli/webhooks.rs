//! `causeway webhook`

use super::accounts::parse_username;
use super::line::parse_line;
use super::listen::Listen;
use super::output::Output;
use crate::app::App;
use access::accounts;
use anyhow::{Context, anyhow, bail};
use clap::Subcommand;
use giving::webhooks::deliveries::{Delivery, DeliveryFilter};
use giving::webhooks::endpoints::input::{EndpointField, EndpointInput};
use giving::webhooks::endpoints::{Endpoint, EndpointError, Owner, WithSecret};
use platform::clock::rfc3339;
use serde_json::{Value, json};
use std::fmt::Write;
use uuid::Uuid;

const MAX_DELIVERIES: usize = 100;

#[derive(Subcommand)]
pub(super) enum Webhook {
    /// Create an endpoint; its secret is shown only once
    #[command(
        after_help = "Example:\n  causeway webhook create --account ada --url https://example.org/webhooks --event donation.succeeded"
    )]
    Create {
        /// The account that owns it
        #[arg(long, value_name = "USERNAME")]
        account: String,
        /// Where events are posted
        #[arg(long)]
        url: String,
        /// An event to send, such as donation.succeeded; give it several times for several [default: all]
        #[arg(long = "event", value_name = "EVENT")]
        events: Vec<String>,
        /// What it is for
        #[arg(long, default_value = "")]
        description: String,
        /// standard, or partner for receivers written for the hosted service
        #[arg(long, default_value = "standard")]
        format: String,
        /// A fixed token to send as Authorization: Bearer, with the partner format
        #[arg(long, value_name = "TOKEN")]
        bearer_token: Option<String>,
    },
    /// List the endpoints of an account
    #[command(after_help = "Example:\n  causeway webhook list --account ada")]
    List {
        /// The account that owns them
        #[arg(long, value_name = "USERNAME")]
        account: String,
    },
    /// Show an endpoint and how its last deliveries went
    #[command(
        after_help = "Example:\n  causeway webhook show 019a8f00-0000-7000-8000-000000000000 --account ada"
    )]
    Show {
        #[command(flatten)]
        endpoint: EndpointArgs,
    },
    /// Send nothing to an endpoint until it is enabled
    #[command(
        after_help = "Example:\n  causeway webhook disable 019a8f00-0000-7000-8000-000000000000 --account ada --reason \"moving\""
    )]
    Disable {
        #[command(flatten)]
        endpoint: EndpointArgs,
        /// The reason, which its owner sees
        #[arg(long, default_value = "The operator disabled it.")]
        reason: String,
    },
    /// Enable an endpoint; what waited for it is sent
    #[command(
        after_help = "Example:\n  causeway webhook enable 019a8f00-0000-7000-8000-000000000000 --account ada"
    )]
    Enable {
        #[command(flatten)]
        endpoint: EndpointArgs,
    },
    /// Delete an endpoint
    #[command(
        after_help = "Example:\n  causeway webhook delete 019a8f00-0000-7000-8000-000000000000 --account ada"
    )]
    Delete {
        #[command(flatten)]
        endpoint: EndpointArgs,
    },
    /// Replace the secret of an endpoint; the old one signs too for 24 hours
    #[command(
        after_help = "Example:\n  causeway webhook rotate 019a8f00-0000-7000-8000-000000000000 --account ada"
    )]
    Rotate {
        #[command(flatten)]
        endpoint: EndpointArgs,
    },
    /// List the last deliveries to an endpoint
    #[command(
        after_help = "Example:\n  causeway webhook deliveries 019a8f00-0000-7000-8000-000000000000 --account ada"
    )]
    Deliveries {
        #[command(flatten)]
        endpoint: EndpointArgs,
    },
    /// Send an event to an endpoint again
    #[command(
        after_help = "Example:\n  causeway webhook retry 019a8f00-0000-7000-8000-000000000000 019a8f00-0000-7000-8000-000000000001 --account ada"
    )]
    Retry {
        #[command(flatten)]
        endpoint: EndpointArgs,
        /// The ID of the delivery, as shown by `causeway webhook deliveries`
        delivery: Uuid,
    },
    /// Send all events since a time to an endpoint again
    #[command(
        after_help = "Example:\n  causeway webhook replay 019a8f00-0000-7000-8000-000000000000 --account ada --since 2026-11-01T00:00:00Z"
    )]
    Replay {
        #[command(flatten)]
        endpoint: EndpointArgs,
        /// A date with time and zone
        #[arg(long)]
        since: jiff::Timestamp,
    },
    /// Follow the events of a server from this machine, and post them to a receiver, signed
    Listen(Listen),
}

/// An endpoint of an account.
#[derive(clap::Args)]
pub(super) struct EndpointArgs {
    /// The ID of the endpoint, as shown by `causeway webhook list`
    id: Uuid,
    /// The account that owns it
    #[arg(long, value_name = "USERNAME")]
    account: String,
}

impl Webhook {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let webhooks = &app.giving.webhooks;
        match self {
            Webhook::Create {
                account,
                url,
                events,
                description,
                format,
                bearer_token,
            } => {
                let owner = find_owner(app, &account).await?;
                let input = EndpointInput {
                    url,
                    events: (!events.is_empty()).then_some(events),
                    description,
                    format: Some(format),
                    bearer: bearer_token,
                };
                let created = webhooks.create(owner, input).await.map_err(to_error)?;
                print_secret(output, &created)
            }
            Webhook::List { account } => list(app, output, &account).await,
            Webhook::Show { endpoint } => show(app, output, &endpoint).await,
            Webhook::Disable { endpoint, reason } => {
                let reason = parse_line("the reason", &reason, 200)?;
                let owner = find_owner(app, &endpoint.account).await?;
                let changed = webhooks.disable(owner, endpoint.id, reason).await;
                print_endpoint(output, &changed.map_err(to_error)?)
            }
            Webhook::Enable { endpoint } => {
                let owner = find_owner(app, &endpoint.account).await?;
                let changed = webhooks.enable(owner, endpoint.id).await;
                print_endpoint(output, &changed.map_err(to_error)?)
            }
            Webhook::Delete { endpoint } => {
                let owner = find_owner(app, &endpoint.account).await?;
                webhooks.delete(owner, endpoint.id).await.map_err(to_error)?;
                let id = endpoint.id;
                output.print(&json!({"id": id, "done": "deleted"}), || {
                    format!("endpoint {id} deleted")
                })
            }
            Webhook::Rotate { endpoint } => {
                let owner = find_owner(app, &endpoint.account).await?;
                let rotated = webhooks.rotate(owner, endpoint.id).await.map_err(to_error)?;
                print_secret(output, &rotated)
            }
            Webhook::Deliveries { endpoint } => list_deliveries(app, output, &endpoint).await,
            Webhook::Retry { endpoint, delivery } => {
                let owner = find_owner(app, &endpoint.account).await?;
                let retried = webhooks
                    .retry(owner, endpoint.id, delivery)
                    .await
                    .map_err(to_error)?;
                output.print(&delivery_to_json(&retried), || delivery_to_line(&retried))
            }
            Webhook::Replay { endpoint, since } => {
                let owner = find_owner(app, &endpoint.account).await?;
                let since = since.as_millisecond();
                let events = webhooks
                    .replay(owner, endpoint.id, since)
                    .await
                    .map_err(to_error)?;
                output.print(&json!({"events": events}), || {
                    format!("{events} events are sent again by the running server")
                })
            }
            Webhook::Listen(_) => {
                bail!("causeway webhook listen needs no database; this is a bug, report it")
            }
        }
    }
}

async fn list(app: &App, output: Output, account: &str) -> anyhow::Result<()> {
    let owner = find_owner(app, account).await?;
    let listed = app.giving.webhooks.list(owner.account).await?;
    let json: Vec<Value> = listed.iter().map(to_json).collect();
    output.print(&json!({"webhooks": json}), || match &*listed {
        [] => "no webhook endpoints yet; create one with causeway webhook create".to_owned(),
        listed => listed.iter().map(to_line).collect::<Vec<_>>().join("\n"),
    })
}

async fn show(app: &App, output: Output, endpoint: &EndpointArgs) -> anyhow::Result<()> {
    let webhooks = &app.giving.webhooks;
    let owner = find_owner(app, &endpoint.account).await?;
    let found = webhooks.find(owner.account, endpoint.id).await;
    let found = found.map_err(to_error)?;
    let traffic = webhooks.traffic(found.id).await?;
    let mut json = to_json(&found);
    json["waiting"] = traffic.waiting.into();
    json["delivered"] = traffic.delivered.into();
    json["failed"] = traffic.failed.into();
    json["p99"] = traffic.p99.into();
    output.print(&json, || {
        let p99 = traffic
            .p99
            .map(|millis| format!("; 99% of answers within {millis} ms"));
        format!(
            "{}\n  {} waiting; of the last deliveries, {} delivered and {} failed{}",
            to_line(&found),
            traffic.waiting,
            traffic.delivered,
            traffic.failed,
            p99.unwrap_or_default()
        )
    })
}

async fn list_deliveries(app: &App, output: Output, endpoint: &EndpointArgs) -> anyhow::Result<()> {
    let owner = find_owner(app, &endpoint.account).await?;
    let filter = DeliveryFilter::default();
    let listed = app
        .giving
        .webhooks
        .list_deliveries(owner.account, endpoint.id, &filter, MAX_DELIVERIES)
        .await;
    let listed = listed.map_err(to_error)?;
    let json: Vec<Value> = listed.iter().map(delivery_to_json).collect();
    output.print(&json!({"deliveries": json}), || match &*listed {
        [] => "no deliveries yet".to_owned(),
        listed => listed.iter().map(delivery_to_line).collect::<Vec<_>>().join("\n"),
    })
}

async fn find_owner(app: &App, account: &str) -> anyhow::Result<Owner> {
    let username = parse_username(account)?;
    let found = accounts::store::find_id(&app.db, &username).await?;
    let found = found.with_context(|| {
        format!(
            "there is no account {}; run causeway account list to see all accounts",
            username.as_str()
        )
    })?;
    Ok(Owner::of_command(found))
}

fn to_error(error: EndpointError) -> anyhow::Error {
    match error {
        EndpointError::NotFound => {
            anyhow!(
                "the account has no such endpoint or delivery; run causeway webhook list to see its endpoints"
            )
        }
        EndpointError::Invalid(invalid) => {
            let texts = invalid
                .iter()
                .map(|invalid| format!("{}: {}", option(invalid.field), invalid.detail));
            anyhow!("{}", texts.collect::<Vec<_>>().join("\n  "))
        }
        EndpointError::Store(error) => error.into(),
    }
}

/// Returns the option that has a field.
fn option(field: EndpointField) -> &'static str {
    match field {
        EndpointField::Url => "--url",
        EndpointField::Events => "--event",
        EndpointField::Description => "--description",
        EndpointField::Format => "--format",
        EndpointField::Bearer => "--bearer-token",
        EndpointField::Status => "the endpoint",
        EndpointField::Since => "--since",
    }
}

fn print_secret(output: Output, with_secret: &WithSecret) -> anyhow::Result<()> {
    let mut json = to_json(&with_secret.endpoint);
    json["secret"] = with_secret.secret.as_str().into();
    output.print(&json, || {
        format!(
            "{}\n  This secret is shown only once. Store it where no one else can read it.\n{}\n  token for donate links: {}",
            with_secret.secret,
            to_line(&with_secret.endpoint),
            with_secret.endpoint.token
        )
    })
}

fn print_endpoint(output: Output, endpoint: &Endpoint) -> anyhow::Result<()> {
    output.print(&to_json(endpoint), || to_line(endpoint))
}

fn to_json(endpoint: &Endpoint) -> Value {
    let events: Vec<&str> = endpoint.events.iter().map(|kind| kind.name()).collect();
    json!({
        "id": endpoint.id,
        "url": endpoint.url,
        "description": endpoint.description,
        "events": events,
        "format": endpoint.format.name(),
        "status": endpoint.health.status.name(),
        "reason": endpoint.reason,
        "failures": endpoint.health.failures,
        "webhookToken": endpoint.token,
        "createdAt": rfc3339(endpoint.created_at),
    })
}

fn to_line(endpoint: &Endpoint) -> String {
    let mut line = format!(
        "{}  {:8}  {:8}  {}",
        endpoint.id,
        endpoint.health.status.name(),
        endpoint.format.name(),
        endpoint.url
    );
    if !endpoint.reason.is_empty() {
        let _ = write!(line, "  {:?}", endpoint.reason);
    }
    line
}

fn delivery_to_json(delivery: &Delivery) -> Value {
    json!({
        "id": delivery.id,
        "eventId": delivery.event,
        "type": delivery.kind.name(),
        "status": delivery.state.name(),
        "attempts": delivery.attempts,
        "nextAttemptAt": delivery.due_at.map(rfc3339),
        "responseStatus": delivery.last.as_ref().and_then(|last| last.status),
        "error": delivery.last.as_ref().and_then(|last| last.error.clone()),
    })
}

fn delivery_to_line(delivery: &Delivery) -> String {
    let error = delivery
        .last
        .as_ref()
        .and_then(|last| last.error.as_deref())
        .unwrap_or_default();
    format!(
        "{}  {:9}  {:2} attempts  {}  {}  {error}",
        delivery.id,
        delivery.state.name(),
        delivery.attempts,
        rfc3339(delivery.queued_at),
        delivery.kind.name()
    )
}
