//! A server on its own port with the demo directory.

use crate::browser::TIMEOUT;
use access::accounts::Username;
use access::accounts::password::NewPassword;
use access::accounts::store::{self, NewAccount};
use access::audit::Actor;
use access::keys::{Class, KeyText, Kind, store as key_store};
use axum::body::Body;
use axum::http::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use causeway::app::App;
use causeway::config::Config;
use causeway::http::refusal::refusal;
use causeway::server::routes::router;
use directory::nonprofits::ein::Ein;
use giving::checkout::receipt::Donee;
use giving::disbursement::AchSettings;
use giving::ledger::entry::Mode;
use giving::providers::Provider;
use http_body_util::BodyExt;
use listener::{listen, serve};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::data_folder;
use platform::ids::AccountId;
use serde_json::Value;
use std::future::pending;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stripe_simulator::Simulator;
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tower::ServiceExt;

pub const PASSWORD: &str = "river stone lantern";

/// The keys of an API user.
pub struct Keys {
    pub public: String,
    /// Both keys, encoded for the `Authorization` header.
    basic: String,
}

pub struct Site {
    pub app: App,
    pub url: String,
    folder: TempDir,
}

/// The settings of a site. A slow machine must not run into its timeouts.
fn settings(folder: &Path) -> Config {
    let mut config = Config::for_tests(folder);
    config.database.acquire_timeout = TIMEOUT;
    config.database.probe_timeout = TIMEOUT;
    config.serve.request_timeout = TIMEOUT;
    config
}

/// Imports the demo directory once for all tests, and returns the files of the data folder.
async fn import_demo() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let app = App::build(settings(folder.path())).await.unwrap();
    app.importer().import_demo().await.unwrap();
    app.refresh_directory().await.unwrap();
    app.db.close().await;
    let data = &app.config.data;
    let (mut folders, mut files) = (vec![data.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(data).unwrap().to_owned();
                files.push((name, std::fs::read(path).unwrap()));
            }
        }
    }
    files
}

fn use_stripe(config: &mut Config) {
    config.giving = Provider::Stripe(Mode::Test);
    config.stripe.secret_key = "sk_test_browser".into();
    config.stripe.webhook_secret = "whsec_browser".into();
}

impl Site {
    /// Starts a site in test mode.
    pub async fn start() -> Site {
        Site::start_with(Provider::Test).await
    }

    pub async fn start_with(provider: Provider) -> Site {
        Site::start_changed(|config| config.giving = provider).await
    }

    /// Starts a site with a key of Stripe, which cannot be reached.
    pub async fn start_with_unreachable_stripe() -> Site {
        Site::start_changed(use_stripe).await
    }

    /// Starts a site that sends webhooks to this machine too.
    pub async fn start_with_private_webhooks() -> Site {
        Site::start_changed(|config| config.webhooks.allow_private = true).await
    }

    /// Starts a site that looks for proofs of domains at a name server.
    pub async fn start_with_dns(server: SocketAddr) -> Site {
        Site::start_changed(|config| config.origins.dns_server = Some(server)).await
    }

    /// Starts a site in test mode that writes files for a bank.
    pub async fn start_with_bank() -> Site {
        Site::start_changed(|config| {
            config.giving = Provider::Test;
            config.disburse.ach = AchSettings {
                destination: "091000019".to_owned(),
                origin: "1530196605".to_owned(),
                company_id: "1530196605".to_owned(),
                company_name: "CAUSEWAY TEST".to_owned(),
            };
        })
        .await
    }

    /// Starts a site whose donors pay at a simulator of Stripe.
    pub async fn start_with_stripe(simulator: &Simulator) -> Site {
        Site::start_with_stripe_and(simulator, |_| {}).await
    }

    /// Starts such a site with other settings.
    pub async fn start_with_stripe_and(simulator: &Simulator, change: impl FnOnce(&mut Config)) -> Site {
        Site::start_changed(|config| {
            use_stripe(config);
            change(config);
            config.stripe.api_base = simulator.url();
            config.recipient = Some(Donee {
                legal_name: "Causeway Foundation".to_owned(),
                ein: Ein::parse("123456789").unwrap(),
                address: "1 Main Street, Springfield, IL 62701".to_owned(),
            });
        })
        .await
    }

    async fn start_changed(change: impl FnOnce(&mut Config)) -> Site {
        static DEMO: OnceCell<Vec<(PathBuf, Vec<u8>)>> = OnceCell::const_new();

        let folder = tempfile::tempdir().unwrap();
        let mut config = settings(folder.path());
        // Nothing listens there: no test may call Stripe.
        "http://127.0.0.1:9".clone_into(&mut config.stripe.api_base);
        change(&mut config);
        let listener = listen(config.listen, false).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        config.public_url.clone_from(&url);
        config.checkout.starts_per_minute = 100_000;
        for (name, content) in DEMO.get_or_init(import_demo).await {
            let path = config.data.join(name);
            data_folder::create_folder(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let app = App::build(config).await.unwrap();
        app.refresh_directory().await.unwrap();
        tokio::spawn(causeway::server::background::run(app.clone()));
        let (routes, served) = (router(app.clone()), app.clone());
        tokio::spawn(async move { serve(listener, routes, &served.config.serve, refusal, pending()).await });
        Site { app, url, folder }
    }

    /// Creates an operator account.
    pub async fn create_operator(&self, name: &str) -> AccountId {
        let username = Username::parse(name).unwrap();
        let password = NewPassword::parse(PASSWORD, name).unwrap();
        let hash = self.app.access.hashing.hash(password).await;
        let account = NewAccount {
            username: &username,
            email: None,
            operator: true,
            password: Some(&hash),
            is_confirmed: true,
        };
        let created = store::insert(&self.app.db, &account, self.app.clock.millis()).await;
        created.unwrap().unwrap()
    }

    /// Creates an account with a public and a private key.
    pub async fn create_keys(&self) -> Keys {
        let (app, now) = (&self.app, self.app.clock.millis());
        let username = Username::parse("organizer").unwrap();
        let account = store::insert_without_password(&app.db, &username, None, false, now)
            .await
            .unwrap();
        let mut texts = Vec::new();
        for kind in [Kind::Public, Kind::Private] {
            let text = KeyText::generate(kind);
            let created = key_store::insert(&app.db, account.unwrap(), "site", &text, now).await;
            let limits = [(Class::Create, 100_000)];
            let set = key_store::set_limits(&app.db, created.unwrap(), &limits, Actor::Command, now).await;
            set.unwrap();
            texts.push(text.expose().to_owned());
        }
        let basic = STANDARD.encode(texts.join(":"));
        let public = texts.remove(0);
        Keys { public, basic }
    }

    /// Creates a fundraiser through the API and returns it.
    pub async fn create_fundraiser(&self, keys: &Keys, body: &Value) -> Value {
        let request = Request::post("/v0.2/fundraiser")
            .header(AUTHORIZATION, format!("Basic {}", keys.basic))
            .header(CONTENT_TYPE, "application/json");
        let response = self.call(request.body(body.to_string().into()).unwrap()).await;
        response["data"]["fundraiser"].clone()
    }

    /// Sends a GET request to the API and returns the body.
    pub async fn get(&self, keys: &Keys, path: &str) -> Value {
        let request = Request::get(format!("{path}?apiKey={}", keys.public));
        self.call(request.body(Body::empty()).unwrap()).await
    }

    /// Sends a form and returns the URL that it redirects to.
    pub async fn send_form(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let fields = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", encode(value)));
        let body = fields.collect::<Vec<_>>().join("&");
        let request = Request::post(path).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let response = router(self.app.clone())
            .oneshot(request.body(Body::from(body)).unwrap())
            .await;
        let response = response.unwrap();
        let location = response.headers().get(LOCATION);
        let location = location.unwrap_or_else(|| panic!("{path}: {}", response.status()));
        location.to_str().unwrap().to_owned()
    }

    /// Writes a file for an import.
    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    async fn call(&self, request: Request<Body>) -> Value {
        let response = router(self.app.clone()).oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&body);
        assert!(parts.status.is_success(), "{}: {text}", parts.status);
        serde_json::from_str(&text).unwrap()
    }

    /// The first email, once it is sent.
    pub async fn email(&self) -> String {
        let folder = self.app.config.data.join("mail");
        let start = Instant::now();
        loop {
            let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let mut paths = files.map(|file| file.path());
            let email = paths.find(|path| path.extension().is_some_and(|extension| extension == "eml"));
            if let Some(email) = email {
                return std::fs::read_to_string(email).unwrap();
            }
            assert!(start.elapsed() < TIMEOUT, "no email was sent");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
