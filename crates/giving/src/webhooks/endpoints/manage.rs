//! What owners and operators do with endpoints: create, change, rotate, disable, test and delete them.

use super::error::{EndpointError, EndpointField, Result};
use super::input::{EndpointChange, EndpointInput, Validator};
use super::store::{self, Secrets};
use super::{Backlog, Endpoint, Owner, WithSecret, require_enabled};
use crate::webhooks::deliveries::{queue, store as deliveries};
use crate::webhooks::events;
use crate::webhooks::schedule::{Health, Status};
use crate::webhooks::url::EndpointUrl;
use crate::webhooks::{DAY_MILLIS, Format, Webhooks};
use access::audit::{self, Action};
use platform::db::Tx;
use platform::ids::AccountId;
use platform::text::hex;
use platform::webhook_signature::WebhookSecret;
use uuid::Uuid;

/// The most endpoints of an account.
const MAX_ENDPOINTS: i64 = 20;
/// How long a rotated secret signs next to its replacement.
const ROTATION_OVERLAP_MILLIS: i64 = DAY_MILLIS;

const SECRET: &str = "webhook secret";
const BEARER: &str = "webhook bearer";

impl Webhooks {
    /// Creates an endpoint.
    pub async fn create(&self, owner: Owner, input: EndpointInput) -> Result<WithSecret> {
        let mut fields = Validator::new(self.allows_private, &self.public_url);
        let url = fields.url(&input.url);
        let format = fields.format(input.format.as_deref());
        let events = fields.events(input.events.as_deref(), format);
        let description = fields.description(&input.description);
        let bearer = fields.bearer(input.bearer.as_deref(), format);
        let url = fields.finish(url)?;
        self.check_host(&url).await?;
        let (id, secret, now) = (Uuid::now_v7(), WebhookSecret::generate(), self.clock.millis());
        let endpoint = Endpoint {
            id,
            account: owner.account,
            url: url.as_str().to_owned(),
            description,
            events,
            format,
            token: new_token(),
            has_bearer: bearer.is_some(),
            old_secret_ends: None,
            health: Health::NEW,
            reason: String::new(),
            disabled_at: None,
            created_at: now,
        };
        let mut tx = self.db.write().await?;
        store::lock_account(&mut tx, owner.account).await?;
        if store::count(&mut tx, owner.account).await? >= MAX_ENDPOINTS {
            let detail = format!("an account has at most {MAX_ENDPOINTS} endpoints; delete one first");
            return Err(EndpointError::invalid(EndpointField::Url, detail));
        }
        let encrypted = self.encrypt(SECRET, id, &secret);
        let bearer = bearer.map(|bearer| self.encrypt(BEARER, id, &bearer));
        store::insert(&mut tx, &endpoint, &encrypted, bearer).await?;
        self.record(&mut tx, owner, "webhook create", id, &endpoint.url)
            .await?;
        tx.commit().await?;
        Ok(WithSecret { endpoint, secret })
    }

    /// Changes an endpoint. A new URL gets what waits at once.
    pub async fn change(&self, owner: Owner, id: Uuid, change: EndpointChange) -> Result<Endpoint> {
        let old = self.find(owner.account, id).await?;
        let mut fields = Validator::new(self.allows_private, &self.public_url);
        let url = change.url.as_deref().and_then(|url| fields.url(url));
        let format = change
            .format
            .as_deref()
            .map_or(old.format, |format| fields.format(Some(format)));
        let events = match &change.events {
            Some(events) => fields.events(Some(events), format),
            None if format != old.format => fields.events(None, format),
            None => old.events.clone(),
        };
        let description = match &change.description {
            Some(description) => fields.description(description),
            None => old.description.clone(),
        };
        let bearer = match &change.bearer {
            Some(bearer) => Some(fields.bearer(bearer.as_deref(), format)),
            None if format == Format::Standard => Some(None),
            None => None,
        };
        let url = fields.finish(Some(url))?;
        if let Some(url) = &url {
            self.check_host(url).await?;
        }
        let new = Endpoint {
            url: url.as_ref().map_or(&*old.url, EndpointUrl::as_str).to_owned(),
            description,
            events,
            format,
            ..old.clone()
        };
        let mut tx = self.db.write().await?;
        store::lock(&mut tx, owner.account, id)
            .await?
            .ok_or(EndpointError::NotFound)?;
        store::update(&mut tx, &new, self.clock.millis()).await?;
        if let Some(bearer) = bearer {
            let bearer = bearer.map(|bearer| self.encrypt(BEARER, id, &bearer));
            store::set_bearer(&mut tx, id, bearer).await?;
        }
        if url.is_some() && new.url != old.url && old.health.status != Status::Disabled {
            self.wake(&mut tx, id).await?;
        }
        self.record(&mut tx, owner, "webhook change", id, &new.url)
            .await?;
        tx.commit().await?;
        self.find(owner.account, id).await
    }

    /// Replaces the secret. The old one signs too for a day.
    pub async fn rotate(&self, owner: Owner, id: Uuid) -> Result<WithSecret> {
        let (secret, now) = (WebhookSecret::generate(), self.clock.millis());
        let mut tx = self.db.write().await?;
        store::lock(&mut tx, owner.account, id)
            .await?
            .ok_or(EndpointError::NotFound)?;
        let encrypted = self.encrypt(SECRET, id, &secret);
        store::rotate(&mut tx, id, &encrypted, now + ROTATION_OVERLAP_MILLIS).await?;
        self.record(&mut tx, owner, "webhook rotate", id, "").await?;
        tx.commit().await?;
        let endpoint = self.find(owner.account, id).await?;
        Ok(WithSecret { endpoint, secret })
    }

    /// Enables an endpoint. What waited when it was disabled is sent now.
    pub async fn enable(&self, owner: Owner, id: Uuid) -> Result<Endpoint> {
        let mut tx = self.db.write().await?;
        store::lock(&mut tx, owner.account, id)
            .await?
            .ok_or(EndpointError::NotFound)?;
        self.wake(&mut tx, id).await?;
        self.record(&mut tx, owner, "webhook enable", id, "").await?;
        tx.commit().await?;
        self.find(owner.account, id).await
    }

    /// Disables an endpoint until it is enabled. Attempts in progress are not recalled.
    pub async fn disable(&self, owner: Owner, id: Uuid, reason: &str) -> Result<Endpoint> {
        let mut tx = self.db.write().await?;
        store::lock(&mut tx, owner.account, id)
            .await?
            .ok_or(EndpointError::NotFound)?;
        store::disable(&mut tx, id, reason, self.clock.millis()).await?;
        self.record(&mut tx, owner, "webhook disable", id, reason).await?;
        tx.commit().await?;
        self.find(owner.account, id).await
    }

    /// Deletes an endpoint with its secrets. What waits for it is removed in the background.
    pub async fn delete(&self, owner: Owner, id: Uuid) -> Result<()> {
        let mut tx = self.db.write().await?;
        let old = store::lock(&mut tx, owner.account, id)
            .await?
            .ok_or(EndpointError::NotFound)?;
        store::delete(&mut tx, id, self.clock.millis()).await?;
        self.record(&mut tx, owner, "webhook delete", id, &old.url)
            .await?;
        tx.commit().await?;
        Ok(())
    }

    /// Queues a test event, and returns the ID of its delivery.
    pub async fn test(&self, owner: Owner, id: Uuid) -> Result<Uuid> {
        let (mut tx, now) = (self.db.write().await?, self.clock.millis());
        let sources = events::store::lock_sources(&mut tx).await?;
        let endpoint = store::lock(&mut tx, owner.account, id)
            .await?
            .ok_or(EndpointError::NotFound)?;
        require_enabled(&endpoint)?;
        let event = events::ping(owner.account, id, sources.last + 1, now);
        events::store::insert(&mut tx, &[&event]).await?;
        events::store::set_last(&mut tx, event.sequence).await?;
        let delivery = queue::enqueue(&mut tx, id, &event, now).await?;
        self.try_now(&mut tx, id, now).await?;
        self.record(&mut tx, owner, "webhook test", id, "").await?;
        tx.commit().await?;
        Ok(delivery)
    }

    /// Finds an endpoint of an account.
    pub async fn find(&self, account: AccountId, id: Uuid) -> Result<Endpoint> {
        let found = store::find(&self.db, account, id).await?;
        found.ok_or(EndpointError::NotFound)
    }

    /// Finds an endpoint of any account.
    pub async fn find_any(&self, id: Uuid) -> sqlx::Result<Option<Endpoint>> {
        store::find_any(&self.db, id).await
    }

    /// Lists the endpoints of all accounts, those with the most waiting events first.
    pub async fn list_backlogs(&self) -> sqlx::Result<Vec<Backlog>> {
        let mut backlogs = Vec::new();
        for (id, username, oldest_queued_at) in store::list_backlogs(&self.db).await? {
            if let Some(endpoint) = store::find_any(&self.db, id).await? {
                backlogs.push(Backlog {
                    endpoint,
                    username,
                    oldest_queued_at,
                });
            }
        }
        Ok(backlogs)
    }

    /// Lists the endpoints of an account, oldest first.
    pub async fn list(&self, account: AccountId) -> sqlx::Result<Vec<Endpoint>> {
        store::list(&self.db, account).await
    }

    /// Refuses a host that has no address now, or one that is not public.
    async fn check_host(&self, url: &EndpointUrl) -> Result<()> {
        let checked = self.poster.check_host(url.host()).await;
        checked.map_err(|error| {
            let detail = format!("{error}; send the URL of a server that can be reached from the internet");
            EndpointError::invalid(EndpointField::Url, detail)
        })
    }

    /// Enables an endpoint whose row is locked, and makes what waits due.
    async fn wake(&self, tx: &mut Tx, id: Uuid) -> sqlx::Result<()> {
        let now = self.clock.millis();
        store::enable(tx, id, now).await?;
        deliveries::make_due(tx, id, now).await
    }

    /// Makes the oldest event of a failing endpoint due, so that its owner sees at once whether it works again.
    pub(in crate::webhooks) async fn try_now(&self, tx: &mut Tx, id: Uuid, now: i64) -> sqlx::Result<()> {
        deliveries::make_oldest_due(tx, id, now).await?;
        store::set_due(tx, id, Some(now)).await
    }

    pub(in crate::webhooks) async fn record(
        &self,
        tx: &mut Tx,
        owner: Owner,
        name: &'static str,
        id: Uuid,
        detail: &str,
    ) -> sqlx::Result<()> {
        let action = Action::new(owner.actor, name, &id.to_string(), detail);
        audit::store::record(tx, &action, self.clock.millis()).await
    }

    fn encrypt(&self, purpose: &str, id: Uuid, text: &str) -> Vec<u8> {
        self.secret.encrypt(purpose, id.as_bytes(), text.as_bytes())
    }

    fn decrypt(&self, purpose: &str, id: Uuid, encrypted: &[u8]) -> Option<String> {
        let text = self.secret.decrypt(purpose, id.as_bytes(), encrypted)?;
        String::from_utf8(text).ok()
    }

    /// Returns the secrets with which messages are signed now, the current one first, and the fixed token. `None` if they
    /// cannot be decrypted.
    pub(in crate::webhooks) fn open_secrets(
        &self,
        id: Uuid,
        secrets: &Secrets,
        now: i64,
    ) -> Option<OpenSecrets> {
        let parse = |encrypted: &[u8]| WebhookSecret::parse(&self.decrypt(SECRET, id, encrypted)?);
        let mut signing = vec![parse(&secrets.secret)?];
        if secrets.old_secret_ends.is_some_and(|ends| now < ends) {
            signing.extend(secrets.old_secret.as_deref().and_then(parse));
        }
        let bearer = match &secrets.bearer {
            Some(bearer) => Some(self.decrypt(BEARER, id, bearer)?),
            None => None,
        };
        Some(OpenSecrets { signing, bearer })
    }
}

/// The secrets of an endpoint.
#[derive(Debug)]
pub(in crate::webhooks) struct OpenSecrets {
    pub signing: Vec<WebhookSecret>,
    pub bearer: Option<String>,
}

/// Returns a token that nobody can guess, for links.
fn new_token() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has random numbers");
    hex(&bytes)
}
