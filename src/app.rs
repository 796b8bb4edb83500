//! The parts that a request may use, put together in one place.

pub mod answer_cache;
pub mod body_budget;
pub mod item_cache;
pub mod json;
pub mod nonprofit_json;
pub mod recent_errors;
pub mod urls;

use crate::access::accounts::attempts::Attempts;
use crate::access::accounts::hashing::Hashing;
use crate::access::keys::exposure::Exposures;
use crate::access::keys::ring::KeyRing;
use crate::access::keys::warnings::warn_owners;
use crate::access::limits::limiter::Limiter;
use crate::access::limits::recent;
use crate::access::usage::{Usage, saving};
use crate::app::answer_cache::Recent;
use crate::app::body_budget::BodyRoom;
use crate::app::item_cache::Items;
use crate::app::nonprofit_json::Wire;
use crate::app::recent_errors::RecentErrors;
use crate::app::urls::Urls;
use crate::config::Config;
use crate::directory::Directory;
use crate::directory::import::Importer;
use crate::directory::import::provenance::Provenance;
use crate::directory::keeper::Look;
use crate::directory::nonprofits::causes::Causes;
use crate::directory::search::Spot;
use crate::giving::fundraisers::cache::Shelf;
use crate::giving::ledger::outbox;
use crate::giving::ledger::writer::Writer;
use crate::giving::payments::settle::settle_pending;
use crate::http::idempotency::UnderWay;
use crate::platform::blobs::Blobs;
use crate::platform::clock::Clock;
use crate::platform::db::Db;
use crate::platform::hosted::Pictures;
use crate::platform::mail::{self, Mailer};
use crate::platform::public_url::PublicUrl;
use crate::server::telemetry::Metrics;
use crate::site::share::Studio;
use axum::body::Bytes;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{Interval, MissedTickBehavior};

/// Between two sweeps over idle limit windows and foldings of the metrics.
const HOUSEKEEPING_EVERY: Duration = Duration::from_secs(5);

/// Between two sweeps over what broken uploads left, and over facts that are too old.
const SWEEPING_EVERY: Duration = Duration::from_mins(15);

/// After a look at the directory that failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The app: cheap to clone, one for each server.
#[derive(Clone, Debug)]
pub struct App(Arc<Parts>);

/// What it is made of.
#[derive(Debug)]
pub struct Parts {
    pub config: Config,
    pub clock: Clock,
    pub db: Db,
    pub directory: Arc<Directory>,
    pub fundraisers: Shelf,
    pub keys: Arc<KeyRing>,
    pub exposures: Exposures,
    pub limiter: Limiter,
    /// Windows of visitors of the public pages, by address.
    pub visitors: Limiter,
    pub metrics: Metrics,
    /// What searches found.
    pub found: Recent<Arc<[Spot]>>,
    pub items: Items,
    /// Profile pages.
    pub pages: Recent<Bytes>,
    pub public_url: PublicUrl,
    pub urls: Urls,
    pub wire: Wire,
    pub hashing: Hashing,
    pub attempts: Attempts,
    pub mail: Mailer,
    pub provenance: Provenance,
    pub recent_errors: RecentErrors,
    pub usage: Usage,
    saving: saving::Saving,
    pub pictures: Pictures,
    pub studio: Studio,
    pub body_room: BodyRoom,
    pub under_way: UnderWay,
    /// Everything that touches money is written by this one.
    pub writer: Writer,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Opens the store and the directory. The only constructor; tests call it too.
    pub async fn build(config: Config) -> anyhow::Result<App> {
        let clock = Clock::default();
        let db = Db::open(&config.data, &config.database).await?;
        let store = db.identity(clock.millis()).await?;
        let directory = Arc::new(Directory::new(
            db.clone(),
            store,
            &config.data,
            config.public_url.as_bytes(),
            Causes::built_in(),
        ));
        directory.open_newest().await?;
        let urls = Urls::new(&config.public_url);
        let keys = Arc::new(KeyRing::new(db.clone()));
        keys.refresh().await?;
        let (now, millis) = (clock.instant(), clock.millis());
        let limiter = Limiter::new(now);
        limiter.restore(&recent::list(&db, millis).await?, now, millis);
        let metrics = Metrics::new()?;
        let mail = Mailer::new(&config.mail, &config.data)?;
        let public_url = PublicUrl::new(&config.public_url);
        let app = App(Arc::new(Parts {
            exposures: Exposures::new(
                db.clone(),
                Arc::clone(&keys),
                clock.clone(),
                mail.clone(),
                public_url.clone(),
            ),
            limiter,
            visitors: Limiter::new(now),
            // What was found takes little room, an item of an answer some, a page most.
            found: Recent::new(config.search.recent_answers / 8),
            items: Items::new(config.search.recent_answers / 8 * 3),
            pages: Recent::new(config.search.recent_answers / 2),
            wire: Wire::new(directory.causes(), &urls),
            public_url,
            urls,
            hashing: Hashing::new(metrics.password_hashes.clone()),
            metrics,
            attempts: Attempts::default(),
            mail,
            provenance: Provenance::default(),
            recent_errors: RecentErrors::default(),
            pictures: Pictures::new(
                db.clone(),
                store,
                Blobs::open(&config.blobs_url, &config.data)?,
                clock.clone(),
            ),
            fundraisers: Shelf::new(db.clone(), &config.data),
            studio: Studio::default(),
            body_room: BodyRoom::new(config.max_body),
            under_way: UnderWay::default(),
            writer: Writer::start(db.clone()),
            config,
            clock,
            db,
            directory,
            keys,
            usage: Usage::default(),
            saving: saving::Saving::default(),
        }));
        app.show_figures();
        Ok(app)
    }

    /// Watches the store for what other processes change, until the task is dropped.
    ///
    /// Keys have a loop of their own: a snapshot that is being built must not hold up a revocation.
    pub async fn keep_fresh(self) {
        self.hashing.warm_up();
        warn_owners(&self.db, &self.clock, &self.mail, &self.public_url).await;
        tokio::join!(
            self.keep_keys(),
            self.keep_directory(),
            self.keep_counts(),
            self.keep_fundraisers(),
            self.keep_house(),
            self.keep_pictures(),
            self.keep_mail(),
            self.keep_outbox(),
            self.keep_gifts()
        );
    }

    async fn keep_keys(&self) {
        let mut ticks = Self::ticks(self.config.directory.poll_interval);
        let mut watch = Watch::new("keys");
        loop {
            ticks.tick().await;
            watch.note(&self.keys.refresh().await.map_err(Into::into));
        }
    }

    async fn keep_directory(&self) {
        let mut ticks = Self::ticks(self.config.directory.poll_interval);
        let mut watch = Watch::new("directory");
        loop {
            ticks.tick().await;
            let begun = Instant::now();
            let outcome = self.refresh_directory().await;
            // A snapshot that cannot be written is tried again, but not with all the strength of the machine.
            let pause = outcome.is_err().then(|| begun.elapsed().min(LONGEST_PAUSE));
            watch.note(&outcome);
            tokio::time::sleep(pause.unwrap_or_default()).await;
        }
    }

    async fn keep_fundraisers(&self) {
        let mut ticks = Self::ticks(self.config.directory.poll_interval);
        let mut watch = Watch::new("fundraisers");
        loop {
            ticks.tick().await;
            watch.note(&self.fundraisers.refresh().await.map_err(Into::into));
        }
    }

    async fn keep_house(&self) {
        let mut ticks = Self::ticks(HOUSEKEEPING_EVERY);
        loop {
            ticks.tick().await;
            self.limiter.sweep(self.clock.instant());
            self.visitors.sweep(self.clock.instant());
            self.metrics.fold();
        }
    }

    async fn keep_counts(&self) {
        let mut ticks = Self::ticks(saving::EVERY);
        let mut watch = Watch::new("counts of calls");
        loop {
            ticks.tick().await;
            watch.note(&self.save_counts().await.map_err(Into::into));
        }
    }

    /// Tells the store what was called since the last time: for limits after a restart, and for usage.
    pub async fn save_counts(&self) -> sqlx::Result<()> {
        self.saving
            .save(&self.db, &self.clock, &self.limiter, &self.usage)
            .await
    }

    /// Gifts that a stop has left between paying and the journal.
    async fn keep_gifts(&self) {
        let mut ticks = Self::ticks(SWEEPING_EVERY);
        let mut watch = Watch::new("gifts");
        loop {
            ticks.tick().await;
            watch.note(&settle_pending(self).await.map_err(Into::into));
        }
    }

    async fn keep_outbox(&self) {
        let mut ticks = Self::ticks(SWEEPING_EVERY);
        let mut watch = Watch::new("outbox");
        loop {
            ticks.tick().await;
            let pruned = outbox::prune(&self.db, self.config.outbox, self.clock.millis()).await;
            if let Ok(facts @ 1..) = pruned {
                tracing::info!(facts, "facts left the outbox by their age");
            }
            watch.note(&pruned.map(|_| ()).map_err(Into::into));
        }
    }

    /// Mails that the mail server did not take at once. That it failed is told when a mail is sent.
    async fn keep_mail(&self) {
        let mut ticks = Self::ticks(mail::AGAIN);
        loop {
            ticks.tick().await;
            if let Ok(mails @ 1..) = self.mail.deliver_waiting().await {
                tracing::info!(mails, "mails that had to wait are delivered");
            }
        }
    }

    async fn keep_pictures(&self) {
        let mut ticks = Self::ticks(SWEEPING_EVERY);
        let mut watch = Watch::new("pictures");
        loop {
            ticks.tick().await;
            let swept = self.pictures.sweep().await;
            if let Ok(blobs @ 1..) = swept {
                tracing::info!(blobs, "cleared away what broken uploads left");
            }
            watch.note(&swept.map(|_| ()));
        }
    }

    fn ticks(every: Duration) -> Interval {
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    }

    /// One look at the directory in the store: small changes are taken in, a snapshot that is due is built.
    pub async fn refresh_directory(&self) -> anyhow::Result<()> {
        if self
            .directory
            .refresh(self.config.directory.overlay_limit)
            .await?
            == Look::BuildDue
            && let Some(built) = self.directory.rebuild().await?
        {
            let (nonprofits, seconds) = (built.edition.count, built.took.as_secs_f64());
            tracing::info!(nonprofits, seconds, "directory snapshot built");
        }
        self.show_figures();
        Ok(())
    }

    /// Imports files into the directory of this app.
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

    fn show_figures(&self) {
        let view = self.directory.view();
        self.metrics.nonprofits.set(
            view.snapshot
                .as_ref()
                .map_or(0.0, |snapshot| f64::from(snapshot.len())),
        );
        self.metrics.revision.set(view.revision as f64);
        self.metrics.overlay.set(view.overlay.len() as f64);
    }
}

/// Says when something begins to fail and when it works again, and not each time between.
struct Watch {
    what: &'static str,
    works: bool,
}

impl Watch {
    fn new(what: &'static str) -> Watch {
        Watch { what, works: true }
    }

    fn note(&mut self, outcome: &anyhow::Result<()>) {
        let what = self.what;
        match (outcome, self.works) {
            (Err(fault), true) => {
                let fault = format!("{fault:#}");
                tracing::error!(what, fault, "cannot be kept fresh; the last state stays");
            }
            (Ok(()), false) => tracing::info!(what, "fresh again"),
            _ => {}
        }
        self.works = outcome.is_ok();
    }
}
