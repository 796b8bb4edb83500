//! `causeway serve`

use crate::app::App;
use crate::cli::stdout::Stdout;
use crate::config::{Config, Overrides, environment_warnings};
use crate::http::refusal::{refusal, refusals};
use crate::server::background;
use crate::server::otlp::Exporter;
use crate::server::reload::Reloader;
use crate::server::routes::router;
use crate::server::scrape::scrape;
use crate::server::sharing::warn_if_unshared;
use crate::server::stop::StopSignals;
use crate::server::telemetry::start_log;
use access::accounts::{self, Username};
use access::keys::{self, KeyText, Kind, State};
use anyhow::Context;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use clap::Args;
use listener::{listen, serve};
use platform::blobs::BlobStoreAway;
use platform::clock::Clock;
use platform::db::Topic;
use std::future::pending;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// How long a server that stops waits for the mail server, and for the blob store.
const FINISH_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the last traces may take to be exported when the server stops.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
const DEMO_ACCOUNT: &str = "demo";
const DEMO_EIN: &str = "530196605";

/// What an empty database is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demo {
    /// Nothing.
    None,
    /// The demo directory, and an account with a public key.
    Directory,
    /// The same, with a private key and a password, which are printed.
    WithKeys,
}

#[derive(Args)]
#[command(after_help = "Example:\n  causeway serve --listen 127.0.0.1:8080 --data /var/lib/causeway")]
pub(super) struct Serve {
    /// The address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The address on which to serve /metrics to Prometheus, or "off" [default: 127.0.0.1:9464]
    #[arg(long, value_name = "ADDRESS")]
    metrics_listen: Option<String>,
    /// The URL at which people reach this server
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Do not load the demo directory into an empty database
    #[arg(long)]
    empty: bool,
}

impl Serve {
    pub(super) fn add_to(&self, overrides: &mut Overrides) {
        overrides.listen.clone_from(&self.listen);
        overrides.metrics_listen.clone_from(&self.metrics_listen);
        overrides.public_url.clone_from(&self.public_url);
    }

    pub(super) async fn run(&self, overrides: Overrides) -> anyhow::Result<()> {
        let demo = if self.empty { Demo::None } else { Demo::Directory };
        Box::pin(run_server(overrides, demo)).await
    }
}

/// Serves until the process is asked to stop.
pub(super) async fn run_server(overrides: Overrides, demo: Demo) -> anyhow::Result<()> {
    let (config, values) = Config::load_with_values(&overrides)?;
    let log_filter = start_log(&config.log, &config.telemetry)?;
    let hangup = signal(SignalKind::hangup())?;
    for warning in environment_warnings() {
        tracing::warn!("{warning}");
    }
    let listener = listen(config.listen, false).with_context(|| {
        format!(
            "could not listen on {}; choose another address with --listen",
            config.listen
        )
    })?;
    let mut config = config.bound_to(listener.local_addr()?);
    config.database = config.database.for_server();
    let app = Box::pin(App::start(config, Clock::default())).await?;
    if let Some(redis) = &app.redis {
        redis.connect().await;
    }
    Box::pin(probe_blobs(&app)).await?;
    if demo != Demo::None && app.availability.is_connected() && app.db.revision(Topic::Directory).await? == 0
    {
        load_demo(&app).await?;
    }
    warn_if_unshared(&app).await;
    log_provider(&app);
    start_traces(&app)?;
    let mut background = tokio::spawn(background::run(app.clone()));
    let metrics = start_metrics(&app);
    let reloader = Reloader {
        app: app.clone(),
        overrides,
        values,
        log_filter,
    };
    let reloads = tokio::spawn(reloader.run(hangup));
    let signals = StopSignals::install()?;
    print_welcome(&app).await?;
    if demo == Demo::WithKeys {
        print_private_key(&app).await?;
    }
    let mut failure = None;
    let stop = async {
        tokio::select! {
            requested_at = signals.wait(&app) => requested_at,
            ended = &mut background => {
                failure = Some(ended);
                Instant::now()
            }
        }
    };
    serve(
        listener,
        router(app.clone()),
        &app.config.serve,
        refusals(&app.config.public_url),
        stop,
    )
    .await?;
    reloads.abort();
    if let Some(metrics) = metrics {
        metrics.abort();
    }
    background.abort();
    if let Some(ended) = failure {
        match ended? {
            Ok(never) => match never {},
            Err(error) => return Err(error.into()),
        }
    }
    if let Err(error) = app.save_keys().await {
        tracing::warn!(%error, "could not save the keys for a start without the database");
    }
    if let Err(error) = app.save_counts().await {
        tracing::warn!(%error, "could not save the counts of the last calls");
    }
    finish(&app).await;
    app.telemetry.traces.flush(FLUSH_TIMEOUT).await;
    app.db.close().await;
    tracing::info!("stopped");
    Ok(())
}

/// Queues the last emails, and writes an anchor of the last entries.
async fn finish(app: &App) {
    if timeout(FINISH_TIMEOUT, app.mail.finish()).await.is_err() {
        tracing::warn!("an email is still being sent; if it is queued, it is sent after the next start");
    }
    match timeout(FINISH_TIMEOUT, app.giving.anchors.write_last()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            let error = format!("{error:#}");
            tracing::warn!(error, "could not write a last anchor of the ledger");
        }
        Err(_) => tracing::warn!("could not write a last anchor of the ledger in time"),
    }
}

/// Starts to export traces, if there is a collector.
fn start_traces(app: &App) -> anyhow::Result<()> {
    if let Some(endpoint) = &app.config.telemetry.otlp_endpoint
        && let Some(queue) = app.telemetry.traces.take_receiver()
    {
        let spans = &app.telemetry.metrics.spans;
        let exporter = Exporter::new(endpoint, spans.exported.clone(), spans.dropped.clone())?;
        tokio::spawn(exporter.run(queue));
        tracing::info!(endpoint, "exporting traces");
    }
    Ok(())
}

/// Logs how donations are paid, which may follow from the public URL.
fn log_provider(app: &App) {
    tracing::info!(provider = app.config.giving.name(), "payment provider");
    if app.is_test_mode() {
        tracing::warn!(
            "test mode: the checkout charges no money, and the totals count test donations; \
             before people use this server, set public_url, and giving.provider to link or off"
        );
    }
}

async fn load_demo(app: &App) -> anyhow::Result<()> {
    app.importer()
        .import_demo()
        .await
        .context("could not load the demo directory; start with --empty to skip it")?;
    app.refresh_directory().await?;
    let username = Username::parse(DEMO_ACCOUNT)?;
    if let Some(account) =
        accounts::store::insert_without_password(&app.db, &username, None, false, app.clock.millis()).await?
    {
        let text = KeyText::generate(Kind::Public);
        keys::store::insert(&app.db, account, "first steps", &text, app.clock.millis()).await?;
    }
    Ok(())
}

/// Prints the URL of the server and a first command to try.
async fn print_welcome(app: &App) -> anyhow::Result<()> {
    let url = &app.config.public_url;
    Stdout::print(&format!("Causeway listens on {url}"))?;
    if !app.availability.is_connected() {
        return Ok(());
    }
    let keys = keys::store::list(&app.db, Some(DEMO_ACCOUNT)).await?;
    let demo = keys
        .iter()
        .find(|key| key.state_at(app.clock.millis()) == State::Active && key.public_key.is_some());
    match demo.and_then(|key| key.public_key.as_ref()) {
        Some(key) => Stdout::print(&format!(
            "Try it:\n  curl '{url}/v0.2/nonprofit/{DEMO_EIN}?apiKey={key}'"
        ))?,
        None => Stdout::print(
            "Create a key:\n  causeway account create NAME && causeway key create --account NAME --kind public",
        )?,
    }
    Ok(())
}

/// Creates a private key for the demo account and prints how to use it.
async fn print_private_key(app: &App) -> anyhow::Result<()> {
    let username = Username::parse(DEMO_ACCOUNT)?;
    let account = accounts::store::find_id(&app.db, &username).await?;
    let account = account.context("the demo account is missing; start again")?;
    let text = KeyText::generate(Kind::Private);
    keys::store::insert(&app.db, account, "scratch server", &text, app.clock.millis()).await?;
    let keys = keys::store::list(&app.db, Some(DEMO_ACCOUNT)).await?;
    let public = keys
        .iter()
        .find_map(|key| key.public_key.as_deref())
        .unwrap_or("YOUR_KEY");
    let private = text.expose();
    Stdout::print(&format!(
        "Private key, for fundraisers (HTTP Basic authentication, with the public key as the username):\n  {private}\n\
         To get events as webhooks on this machine:\n  \
         causeway webhook listen --server {} --public-key {public} --private-key {private} --forward-to http://localhost:3000/hook\n\
         Everything is removed when you stop the server with Ctrl+C.",
        app.site.public_url
    ))?;
    Ok(())
}

/// Checks the blob store. One that does not respond is waited for in the background.
async fn probe_blobs(app: &App) -> anyhow::Result<()> {
    match app.pictures.blobs().probe().await {
        Err(error) if error.is::<BlobStoreAway>() => {
            let error = format!("{error:#}");
            tracing::error!(
                error,
                "started without the blob store: uploaded pictures get a 503 until it responds"
            );
            tokio::spawn(background::await_blob_store(app.clone()));
            Ok(())
        }
        probed => probed,
    }
}

/// Serves the metrics on a second listener, which accepts connections when this returns. If that fails, the server
/// itself keeps running.
fn start_metrics(app: &App) -> Option<JoinHandle<()>> {
    let address = app.config.metrics_listen?;
    let report = move |error: &dyn std::error::Error| {
        tracing::error!(%address, %error, "could not serve metrics; set metrics_listen to a free address, or to off");
    };
    let listener = listen(address, false).inspect_err(|error| report(error)).ok()?;
    let app = app.clone();
    let page = {
        let app = app.clone();
        move || async move {
            (
                [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
                scrape(&app).await,
            )
        }
    };
    Some(tokio::spawn(async move {
        let routes = Router::new().route("/metrics", get(page));
        if let Err(error) = serve(listener, routes, &app.config.serve, refusal, pending()).await {
            report(&error);
        }
    }))
}
