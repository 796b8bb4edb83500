//! The application state that handlers, extractors and commands share, built in one place.

pub mod admission;
pub mod answer_cache;
pub mod availability;
pub mod bulk_work;
pub mod compressible_text;
pub mod eligibility;
pub mod event_json;
pub mod failing_jobs;
pub mod metrics;
pub mod nonprofit_json;
pub mod offline;
pub mod optional_reads;
pub mod page_cache;
pub mod picture_sweep;
pub mod recent_errors;
pub mod search_answers;
pub mod share_cards;
pub mod site;
pub mod traces;
pub mod urls;

use crate::app::admission::AdmissionControl;
use crate::app::answer_cache::AnswerCache;
use crate::app::availability::{Availability, NOTED_CLOCK_SKEW_MILLIS, Readiness};
use crate::app::bulk_work::BulkWork;
use crate::app::compressible_text::CompressibleText;
use crate::app::failing_jobs::FailingJobs;
use crate::app::metrics::Metrics;
use crate::app::nonprofit_json::NonprofitJson;
use crate::app::optional_reads::OptionalReads;
use crate::app::page_cache::PageCache;
use crate::app::recent_errors::RecentErrors;
use crate::app::search_answers::SearchAnswers;
use crate::app::share_cards::ShareCards;
use crate::app::site::SiteFiles;
use crate::app::traces::Traces;
use crate::app::urls::Urls;
use crate::config::Config;
use access::accounts::attempt_limiter::AttemptLimiter;
use access::accounts::hashing::PasswordHasher;
use access::claims::actions::Claims;
use access::claims::settings::WithoutConsent;
use access::keys::Limits;
use access::keys::exposure::Exposures;
use access::keys::ring::KeyRing;
use access::keys::saved::{KeySaver, SavedKeys};
use access::limits::limiter::Limiter;
use access::limits::rate_limiter::RateLimiter;
use access::limits::script::SharedWindows;
use access::limits::shared::SharedLimiter;
use access::limits::store as recent_calls;
use access::notices::Notices;
use access::origins::proof::Prover;
use access::usage::{Usage, saver};
use directory::Directory;
use directory::history::imports::Provenance;
use directory::nonprofits::causes::Causes;
use directory::snapshot::publish::Sharing;
use directory::snapshot::refresh::RefreshOutcome;
use directory::snapshot::sitemaps::Sitemaps;
use giving::checkout::settle::Settlement;
use giving::disbursement::Disbursements;
use giving::fundraisers::cache::FundraiserCache;
use giving::fundraisers::store::Order;
use giving::guard::Guard;
use giving::idempotency::InFlight;
use giving::ledger::anchors::log::AnchorLog;
use giving::ledger::anchors::place::Place;
use giving::ledger::anchors::signing::AnchorKeys;
use giving::ledger::entry::Mode;
use giving::ledger::store as ledger_store;
use giving::ledger::writer::Writer;
use giving::moderation::Moderation;
use giving::notices::GivingNotices;
use giving::payments::Payments;
use giving::providers::Provider;
use giving::providers::stripe::client::Client as StripeClient;
use giving::providers::stripe::settings::StripeSettings;
use giving::recorder::Recorder;
use giving::webhooks::Webhooks;
use giving::webhooks::deliveries::sender::Sender;
use giving::yearly::YearlyStatements;
use ingest::Importer;
use platform::blobs::Blobs;
use platform::clock::Clock;
use platform::db::{Changes, Db, Topic};
use platform::hosted::Pictures;
use platform::last_seen::LastSeen;
use platform::mail::Mailer;
use platform::outbound::addresses::AddressPolicy;
use platform::outbound::post::Poster;
use platform::public_url::PublicUrl;
use platform::redis::Redis;
use platform::secret::StoreSecret;

use arc_swap::ArcSwap;
use axum::body::Bytes;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;
use uuid::Uuid;

/// The state of one server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App(Arc<Parts>);

/// The fields of an [`App`]: what all handlers use, then the parts of each capability.
#[derive(Debug)]
pub struct Parts {
    pub config: Config,
    pub clock: Clock,
    pub db: Db,
    /// What the background jobs follow.
    pub changes: Changes,
    /// The ID of the store.
    pub store: Uuid,
    pub secret: StoreSecret,
    pub availability: Availability,
    /// Redis, if several servers share their limits.
    pub redis: Option<Redis>,
    pub mail: Mailer,
    pub pictures: Pictures,
    pub admission: AdmissionControl,
    pub bulk_work: BulkWork,
    pub optional_reads: OptionalReads,
    pub directory: Arc<Directory>,
    pub access: AccessParts,
    pub giving: GivingParts,
    pub site: SiteParts,
    pub caches: Caches,
    pub telemetry: Telemetry,
}

/// Who may call, and how often.
#[derive(Debug)]
pub struct AccessParts {
    /// The limits of keys without limits of their own.
    limits: ArcSwap<Limits>,
    pub keys: Arc<KeyRing>,
    key_saver: KeySaver,
    pub exposures: Exposures,
    pub limiter: RateLimiter,
    /// Rate limits of the visitors of public pages, by network.
    pub visitors: RateLimiter,
    pub attempts: AttemptLimiter,
    pub hashing: PasswordHasher,
    pub usage: Usage,
    count_saver: saver::CountSaver,
}

/// Fundraisers, donations and the ledger.
#[derive(Debug)]
pub struct GivingParts {
    pub fundraisers: Arc<FundraiserCache>,
    /// Writes donations, refunds and fundraisers.
    pub recorder: Recorder,
    /// The anchors of the ledger.
    pub anchors: AnchorLog,
    pub in_flight: InFlight,
    /// Rate limits of donations that are started, by network.
    pub checkouts: RateLimiter,
    pub webhooks: Webhooks,
    /// Wakes those who wait for events.
    pub new_events: watch::Sender<u64>,
    /// The client of Stripe, if that is the provider.
    stripe: Option<StripeClient>,
}

/// The public URL of the server, and what depends on it.
#[derive(Debug)]
pub struct SiteParts {
    pub public_url: PublicUrl,
    pub urls: Urls,
    pub nonprofit_json: NonprofitJson,
    /// The logo and the texts of the operator.
    pub site_files: SiteFiles,
}

/// Answers that are cached until the directory changes.
#[derive(Debug)]
pub struct Caches {
    pub search_answers: SearchAnswers,
    /// Response bodies of the details route, by the identifier as it was sent.
    pub details: AnswerCache<Bytes>,
    /// Rendered pages that depend on the directory alone: profiles by their slug, others by their path.
    pub pages: AnswerCache<CompressibleText>,
    pub home_page: PageCache<()>,
    /// The description of the API with the URL of this server, and its entity tag.
    pub openapi: OnceLock<(CompressibleText, String)>,
    /// The pages of `/fundraisers`, by their order and number.
    pub fundraiser_lists: PageCache<(Order, u64)>,
    pub share_cards: ShareCards,
    pub provenance: Provenance,
}

/// What operators see of the server.
#[derive(Debug)]
pub struct Telemetry {
    pub metrics: Metrics,
    pub traces: Traces,
    pub recent_errors: RecentErrors,
    pub failing_jobs: FailingJobs,
}

/// The store of an app that is being built.
struct OpenedStore {
    db: Db,
    id: Uuid,
    secret: StoreSecret,
    /// The keys to use while the store is unavailable. Without them it is available.
    saved_keys: Option<SavedKeys>,
}

impl Caches {
    /// Creates empty caches that hold up to `size` bytes together.
    fn new(size: usize) -> Caches {
        Caches {
            // The hits of a search are much smaller than a page.
            search_answers: SearchAnswers::new(size / 8, size / 8),
            details: AnswerCache::new(size / 4),
            pages: AnswerCache::new(size / 2),
            home_page: PageCache::default(),
            openapi: OnceLock::new(),
            fundraiser_lists: PageCache::default(),
            share_cards: ShareCards::default(),
            provenance: Provenance::default(),
        }
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Opens the database and the directory, and builds the state. Tests use it too.
    pub async fn build(config: Config) -> anyhow::Result<App> {
        App::build_with_clock(config, Clock::default()).await
    }

    /// Builds the state with the clock of another app, as after a restart in a test that moves the clock.
    pub async fn build_with_clock(config: Config, clock: Clock) -> anyhow::Result<App> {
        let db = Db::open(&config.data, &config.database).await?;
        // Before anything is written.
        db.follow_clock(&clock).await?;
        let id = db.identity(clock.millis()).await?;
        let secret = StoreSecret::open(&db, &config.secret_file).await?;
        let opened = OpenedStore {
            db,
            id,
            secret,
            saved_keys: None,
        };
        Box::pin(App::assemble(config, clock, opened)).await
    }

    async fn assemble(config: Config, clock: Clock, opened: OpenedStore) -> anyhow::Result<App> {
        let (db, store, secret) = (opened.db, opened.id, opened.secret);
        let site_files = SiteFiles::read(&config.site)?;
        let metrics = Metrics::new(clock.clone())?;
        let blobs =
            Blobs::open(&config.blobs_url, &config.data)?.with_error_counter(metrics.blob_errors.clone());
        let directory = Arc::new(new_directory(&config, &db, &clock, store, &blobs));
        let urls = Urls::new(&config.public_url);
        let now = clock.instant();
        let limiter = Limiter::new(now).with_address_secret(secret.authenticate("address limits", b""));
        let (keys, store_seen) = open_keys(&db, &directory, &limiter, &clock, opened.saved_keys).await?;
        let keys = Arc::new(keys);
        let redis = Redis::new(&config.redis, || metrics.redis_up())?;
        let windows = shared_windows(redis.as_ref(), &secret);
        let rate_limiter = |name: &'static str, local: Limiter| match &windows {
            None => RateLimiter::Local(local),
            Some(windows) => {
                let local_decisions = metrics.local_limit_decisions();
                let shared = SharedLimiter::new(name, windows.clone(), local, local_decisions);
                RateLimiter::Shared(Box::new(shared))
            }
        };
        let fundraisers = Arc::new(FundraiserCache::new(db.clone(), &config.data));
        let mail = Mailer::new(&config.mail, &config.data, db.clone(), clock.clone())?
            .with_counters(metrics.emails.deliveries.clone());
        let anchors = new_anchors(&config, &db, &clock, &secret, store, &blobs)?;
        let public_url = PublicUrl::new(&config.public_url);
        let caches = Caches::new(config.search.recent_answers);
        let access = AccessParts {
            limits: ArcSwap::from_pointee(config.limits),
            key_saver: KeySaver::new(&config.data, store),
            exposures: Exposures::new(
                db.clone(),
                Arc::clone(&keys),
                clock.clone(),
                mail.clone(),
                public_url.clone(),
                secret.clone(),
            ),
            keys,
            limiter: rate_limiter("calls", limiter),
            visitors: rate_limiter("visitors", Limiter::new(now)),
            attempts: windows.clone().map_or_else(AttemptLimiter::default, |windows| {
                AttemptLimiter::shared(windows, metrics.local_limit_decisions())
            }),
            hashing: PasswordHasher::new(config.accounts.hash_cost, metrics.password_hashes.clone()),
            usage: Usage::default(),
            count_saver: saver::CountSaver::default(),
        };
        let giving = GivingParts {
            recorder: Recorder::new(
                Writer::start(db.clone()),
                Arc::clone(&fundraisers),
                clock.clone(),
                metrics.donations.clone(),
            ),
            fundraisers,
            anchors,
            webhooks: new_webhooks(&config, &db, &directory, &clock, &secret, &mail),
            new_events: watch::Sender::new(0),
            in_flight: InFlight::default(),
            checkouts: rate_limiter("checkouts", Limiter::new(now)),
            stripe: new_stripe_client(&config)?,
        };
        let site = SiteParts {
            nonprofit_json: NonprofitJson::new(directory.causes(), &urls, config.compat),
            public_url,
            urls,
            site_files,
        };
        let telemetry = Telemetry {
            traces: Traces::new(&config.telemetry, clock.clone(), metrics.spans.dropped.clone()),
            metrics,
            recent_errors: RecentErrors::default(),
            failing_jobs: FailingJobs::default(),
        };
        let app = App(Arc::new(Parts {
            pictures: Pictures::new(db.clone(), store, blobs, clock.clone(), config.pictures),
            availability: Availability::new(config.availability, store_seen, &clock),
            admission: AdmissionControl::new(config.admission, config.max_body, clock.clone()),
            bulk_work: BulkWork::default(),
            optional_reads: OptionalReads::new(clock.clone()),
            changes: Changes::default(),
            config,
            clock,
            db,
            store,
            secret,
            redis,
            mail,
            directory,
            access,
            giving,
            site,
            caches,
            telemetry,
        }));
        app.update_gauges();
        Ok(app)
    }

    /// Returns the limits of keys without limits of their own.
    #[inline]
    pub fn limits(&self) -> Limits {
        **self.access.limits.load()
    }

    /// Changes the limits of keys without limits of their own.
    pub fn set_limits(&self, limits: Limits) {
        self.access.limits.store(Arc::new(limits));
    }

    /// Sets how many servers share the limits, including this one.
    pub fn set_servers(&self, servers: u32) {
        for limiter in [
            &self.access.limiter,
            &self.access.visitors,
            &self.giving.checkouts,
        ] {
            limiter.set_servers(servers);
        }
    }

    /// Returns what load balancers should send to this server.
    pub fn readiness(&self) -> Readiness {
        self.availability.readiness(self.directory.has_snapshot())
    }

    /// Compares the clock of this machine with that of the store, and follows that. SQLite has none, so there the clock is
    /// compared with the last entry of the ledger.
    pub async fn check_clock(&self) -> sqlx::Result<()> {
        let skew = match &self.db {
            Db::Postgres(_) => match self.db.follow_clock(&self.clock).await? {
                Some(skew) => skew,
                None => return Ok(()),
            },
            Db::Sqlite { .. } => match ledger_store::find_last(&self.db).await? {
                Some((_, last_at)) => (self.clock.millis() - last_at).min(0),
                None => 0,
            },
        };
        if self.availability.record_clock_skew(skew, self.clock.millis()) {
            let seconds = skew as f64 / 1e3;
            match (&self.db, skew.abs() > NOTED_CLOCK_SKEW_MILLIS) {
                (_, false) => tracing::info!(seconds, "the clock of this machine is right again"),
                (Db::Postgres(_), true) => tracing::error!(
                    seconds,
                    "the clock of this machine differs from that of PostgreSQL, which is used for everything that is stored; run a time service"
                ),
                (Db::Sqlite { .. }, true) => tracing::error!(
                    seconds,
                    "the clock of this machine is behind the last entry of the ledger: it was set back, or was ahead before; until it has \
                     caught up, entries get the time of that one; set it right"
                ),
            }
        }
        Ok(())
    }

    /// Records whether the store responded, and the keys are those in it.
    pub fn record_response(&self, responds: bool) {
        let latest = self.changes.latest(Topic::Keys);
        let is_current = latest.is_none_or(|latest| latest == self.access.keys.revision());
        self.availability.store_seen.record(responds && is_current);
        if responds {
            self.telemetry.metrics.store_age.set_time(self.clock.millis());
        }
    }

    /// Saves the keys for a start without the store. SQLite needs none: without its file, nothing starts.
    pub async fn save_keys(&self) -> std::io::Result<()> {
        if matches!(self.db, Db::Sqlite { .. }) || !self.availability.is_connected() {
            return Ok(());
        }
        let confirmed_at = self.availability.store_seen.seen_at();
        self.access.key_saver.save(&self.access.keys, confirmed_at).await
    }

    /// Returns whether this server is in test mode: it charges nothing, and its totals count test donations.
    pub fn is_test_mode(&self) -> bool {
        self.config.giving.is_test()
    }

    /// Returns the parts of the state that email the owners of accounts.
    pub fn notices(&self) -> Notices<'_> {
        Notices {
            mailer: &self.mail,
            clock: &self.clock,
            secret: &self.secret,
            public_url: &self.site.public_url,
        }
    }

    /// Returns the parts of the state that email people about fundraisers and donations.
    pub fn giving_notices(&self) -> GivingNotices<'_> {
        GivingNotices {
            db: &self.db,
            notices: self.notices(),
            counts_test: self.is_test_mode(),
            time_zone: &self.config.time_zone,
        }
    }

    /// Returns the parts of the state that settle payments.
    pub fn settlement(&self) -> Settlement<'_> {
        Settlement {
            db: &self.db,
            directory: &self.directory,
            recorder: &self.giving.recorder,
            clock: &self.clock,
            mailer: &self.mail,
            public_url: &self.site.public_url,
            secret: &self.secret,
            time_zone: &self.config.time_zone,
            recipient: self.config.recipient.as_ref(),
            receipts_per_hour: self.config.checkout.receipts_per_hour,
            notices_per_day: self.config.checkout.notices_per_day,
            payment_attempts: self.config.stripe.payment_attempts,
        }
    }

    /// Returns what counts declined payments.
    pub fn guard(&self) -> Guard<'_> {
        Guard {
            db: &self.db,
            clock: &self.clock,
            secret: &self.secret,
            settings: self.config.guard,
        }
    }

    /// Returns the parts of the state that handle payments by Stripe. Its key is enough, also with another provider: what was
    /// started with Stripe has to be brought to an end.
    pub fn payments(&self) -> Option<Payments<'_>> {
        Some(Payments {
            settlement: self.settlement(),
            stripe: self.giving.stripe.as_ref()?,
            mode: self.config.stripe.mode().ok()?,
            store: self.store,
            fees_paid_by: self.config.fees_paid_by,
            guard: self.guard(),
        })
    }

    /// Returns the parts of the state that make yearly statements for donors.
    pub fn yearly_statements(&self) -> YearlyStatements<'_> {
        YearlyStatements {
            db: &self.db,
            directory: &self.directory,
            clock: &self.clock,
            secret: &self.secret,
            mailer: &self.mail,
            public_url: &self.site.public_url,
            time_zone: &self.config.time_zone,
            recipient: self.config.recipient.as_ref(),
            counts_test: self.is_test_mode(),
            site_name: &self.config.site.name,
        }
    }

    /// Returns the parts of the state that pass money on to nonprofits.
    pub fn disbursements(&self) -> Disbursements<'_> {
        let config = &self.config;
        let mode = self.payments().map_or_else(
            || {
                if self.is_test_mode() {
                    Mode::Test
                } else {
                    Mode::Live
                }
            },
            |payments| payments.mode,
        );
        Disbursements {
            db: &self.db,
            directory: &self.directory,
            recorder: &self.giving.recorder,
            clock: &self.clock,
            secret: &self.secret,
            settings: &config.disburse,
            mode,
            time_zone: &config.time_zone,
            mailer: &self.mail,
            public_url: &self.site.public_url,
            operator: match (&config.recipient, config.site.operator.as_str()) {
                (Some(recipient), _) => &recipient.legal_name,
                (None, "") => &config.site.name,
                (None, operator) => operator,
            },
        }
    }

    /// Adds the events of what was written since the last time, and wakes those who wait for them. Returns whether there is more.
    pub async fn fan_out_events(&self) -> sqlx::Result<bool> {
        let has_more = self.giving.webhooks.fan_out().await?;
        self.wake_sender();
        Ok(has_more)
    }

    /// Lets the sender of events look for something to send.
    pub fn wake_sender(&self) {
        self.giving.new_events.send_modify(|count| *count += 1);
    }

    /// Returns a sender of events.
    pub fn event_sender(&self) -> Sender {
        let render = event_json::renderer(self.site.urls.clone());
        Sender::new(
            self.giving.webhooks.clone(),
            render,
            self.telemetry.metrics.webhooks.attempts.clone(),
        )
    }

    /// Returns the origin of the page where donors pay, if that is a page of Stripe.
    pub fn payment_page(&self) -> Option<&str> {
        let is_stripe = matches!(self.config.giving, Provider::Stripe(_));
        is_stripe.then(|| self.config.stripe.payment_page_origin())
    }

    /// Returns whether donate links may redirect to a registered origin on the donor's own machine without a proof. In test
    /// mode developers need this to try out links, and no money is charged.
    pub fn trusts_localhost(&self) -> bool {
        self.is_test_mode()
    }

    /// Returns the checker for proofs of origins.
    pub fn origin_prover(&self) -> Prover {
        let settings = self.config.origins;
        Prover {
            policy: AddressPolicy {
                allows_private: settings.allows_private(&self.site.public_url),
            },
            dns_server: settings.dns_server,
        }
    }

    /// Returns the parts of the state that claims of nonprofits use.
    pub fn claims(&self) -> Claims<'_> {
        Claims {
            db: &self.db,
            notices: self.notices(),
            approve: self.config.claims.approve,
        }
    }

    /// Returns the parts of the state that operators moderate with.
    pub fn moderation(&self) -> Moderation<'_> {
        Moderation {
            recorder: &self.giving.recorder,
            notices: self.giving_notices(),
        }
    }

    /// Saves the requests counted since the last save, if that was long ago or a key has used much of its limit since.
    pub async fn save_counts_if_due(&self) -> sqlx::Result<()> {
        self.access
            .count_saver
            .save_if_due(
                &self.db,
                &self.clock,
                self.access.limiter.local(),
                &self.access.usage,
                &self.limits(),
            )
            .await
    }

    /// Saves the requests counted since the last save at once, for the usage pages and for rate limits after a restart.
    pub async fn save_counts(&self) -> sqlx::Result<()> {
        self.access
            .count_saver
            .save(
                &self.db,
                &self.clock,
                self.access.limiter.local(),
                &self.access.usage,
            )
            .await
    }

    /// Brings the directory up to date with the database: applies small changes, and builds a snapshot when one is due.
    pub async fn refresh_directory(&self) -> anyhow::Result<()> {
        if self
            .directory
            .refresh(self.config.directory.overlay_limit)
            .await?
            == RefreshOutcome::NeedsRebuild
        {
            // Until the build is done, the metrics show that the directory is behind the store.
            let revision = self.db.revision(Topic::Directory).await?;
            self.telemetry.metrics.store_revision.set(revision as f64);
            if let Some(built) = self.directory.rebuild().await? {
                let (nonprofits, seconds) = (built.meta.count, built.duration.as_secs_f64());
                self.telemetry.metrics.snapshot.build.set(seconds);
                tracing::info!(nonprofits, seconds, "directory snapshot built");
            }
        } else {
            self.telemetry
                .metrics
                .store_revision
                .set(self.directory.view().revision.number as f64);
        }
        self.update_gauges();
        Ok(())
    }

    /// Returns the sitemaps, or `None` while there is no snapshot of the directory.
    pub async fn sitemaps(&self) -> anyhow::Result<Option<Arc<Sitemaps>>> {
        self.directory.sitemaps(self.site.urls.public()).await
    }

    /// Writes the sitemaps of the current snapshot, unless they exist.
    pub async fn refresh_sitemaps(&self) -> anyhow::Result<()> {
        self.directory.refresh_sitemaps(self.site.urls.public()).await
    }

    /// Returns the parts of the state that import files into the directory.
    pub fn importer(&self) -> Importer<'_> {
        Importer {
            db: &self.db,
            clock: &self.clock,
            pictures: &self.pictures,
            causes: self.directory.causes(),
            data: &self.config.data,
            overlay_limit: self.config.directory.overlay_limit,
        }
    }

    fn update_gauges(&self) {
        let view = self.directory.view();
        self.telemetry.metrics.nonprofits.set(
            view.snapshot
                .as_ref()
                .map_or(0.0, |snapshot| f64::from(snapshot.len())),
        );
        if let Some(snapshot) = &view.snapshot {
            self.telemetry
                .metrics
                .snapshot
                .revision
                .set(snapshot.meta().revision as f64);
            self.telemetry
                .metrics
                .snapshot
                .age
                .set_time(snapshot.modified_at());
        }
        self.telemetry.metrics.revision.set(view.revision.number as f64);
        self.telemetry.metrics.overlay.set(view.overlay.len() as f64);
    }
}

/// Opens the newest snapshot of the directory, and reads the keys and their recent calls from the store; or uses what was
/// saved, if the store is away.
async fn open_keys(
    db: &Db,
    directory: &Arc<Directory>,
    limiter: &Limiter,
    clock: &Clock,
    saved: Option<SavedKeys>,
) -> anyhow::Result<(KeyRing, LastSeen)> {
    if let Some(saved) = saved {
        directory.open_without_store().await?;
        let keys = KeyRing::with_keys(db.clone(), saved.keys);
        return Ok((keys, LastSeen::lost_at(clock, saved.confirmed_at)));
    }
    directory.open_newest().await?;
    let (now, millis) = (clock.instant(), clock.millis());
    limiter.restore(&recent_calls::list(db, millis).await?, now, millis);
    let keys = KeyRing::new(db.clone());
    keys.refresh().await?;
    Ok((keys, LastSeen::now(clock)))
}

/// Returns the windows of limits that all servers share, if there is a Redis.
fn shared_windows(redis: Option<&Redis>, secret: &StoreSecret) -> Option<SharedWindows> {
    redis
        .cloned()
        .map(|redis| SharedWindows::new(redis, secret.authenticate("shared limits", b"")))
}

/// Returns what delivers the events of webhooks.
fn new_webhooks(
    config: &Config,
    db: &Db,
    directory: &Arc<Directory>,
    clock: &Clock,
    secret: &StoreSecret,
    mailer: &Mailer,
) -> Webhooks {
    let allows_private = config.webhooks.allow_private;
    Webhooks {
        db: db.clone(),
        directory: Arc::clone(directory),
        clock: clock.clone(),
        secret: secret.clone(),
        mailer: mailer.clone(),
        public_url: PublicUrl::new(&config.public_url),
        poster: Poster::new(AddressPolicy { allows_private }),
        allows_private,
        keep_days: config.outbox.keep_days,
    }
}

/// Creates the client of Stripe, if its key is set.
fn new_stripe_client(config: &Config) -> reqwest::Result<Option<StripeClient>> {
    let StripeSettings {
        api_base, secret_key, ..
    } = &config.stripe;
    let is_usable = config.stripe.mode().is_ok();
    is_usable
        .then(|| StripeClient::new(api_base, secret_key.clone()))
        .transpose()
}

fn new_anchors(
    config: &Config,
    db: &Db,
    clock: &Clock,
    secret: &StoreSecret,
    store: Uuid,
    blobs: &Blobs,
) -> anyhow::Result<AnchorLog> {
    let places = Place::all(blobs.clone(), &config.blobs_url, &config.anchors, &config.data);
    let keys = AnchorKeys::load(&config.anchors)?;
    Ok(AnchorLog::new(
        db.clone(),
        clock.clone(),
        secret.clone(),
        store,
        (places, keys),
    ))
}

/// Creates the directory. Servers that share a database share the work of building snapshots.
fn new_directory(config: &Config, db: &Db, clock: &Clock, store: Uuid, blobs: &Blobs) -> Directory {
    let directory = Directory::new(
        db.clone(),
        store,
        &config.data,
        config.public_url.as_bytes(),
        Causes::built_in(),
    )
    .with_consent_required(config.claims.without_consent == WithoutConsent::Refuse)
    .with_meaning(config.search.by_meaning)
    .with_eligibility(config.eligibility, clock.clone());
    if config.database.url.is_none() {
        return directory;
    }
    directory.with_sharing(Sharing::new(config.directory.build_lease, blobs, store))
}
