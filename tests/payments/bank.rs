//! A server whose provider is Stripe, with a simulator that sends it events.

use crate::client::Client;
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use causeway::app::App;
use causeway::config::Config;
use causeway::http::refusal::refusal;
use causeway::server::routes::router;
use directory::nonprofits::ein::Ein;
use giving::checkout::receipt::Donee;
use giving::ledger::entry::Mode;
use giving::payments::store::{Reconciliation, list_differences};
use giving::providers::Provider;
use listener::{listen, serve};
use serde_json::{Value, json};
use stripe_simulator::{Settings, Simulator};

pub const PROFILE: &str = "/american-red-cross";
pub const VALID_CARD: &str = "4242424242424242";
pub const WEBHOOK_SECRET: &str = "whsec_story";
const SECRET_KEY: &str = "sk_test_story";

/// The simulator, and a server that uses it.
pub struct Bank {
    pub app: App,
    pub client: Client,
    pub visitor: Visitor,
    pub url: String,
    events_url: String,
    http: reqwest::Client,
    _simulator: Simulator,
    server: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Drop for Bank {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Bank {
    /// Starts both, with the demo directory.
    pub async fn open(world: &World) -> Bank {
        Bank::open_with(world, |_| {}).await
    }

    /// Starts both, with other settings.
    pub async fn open_with(world: &World, change: impl FnOnce(&mut Config)) -> Bank {
        world.load_demo().await;
        let simulator = Simulator::start(Settings::default()).await.unwrap();
        let url = simulator.url();
        let mut config = world.app.config.clone();
        config.giving = Provider::Stripe(Mode::Test);
        config.stripe.secret_key = SECRET_KEY.into();
        config.stripe.webhook_secret = WEBHOOK_SECRET.into();
        config.stripe.api_base = url.clone();
        config.recipient = Some(Donee {
            legal_name: "Causeway Foundation".to_owned(),
            ein: Ein::parse("123456789").unwrap(),
            address: "1 Main Street, Springfield, IL 62701".to_owned(),
        });
        change(&mut config);
        let app = App::build_with_clock(config, world.app.clock.clone())
            .await
            .unwrap();
        let listener = listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let (routes, settings) = (router(app.clone()), app.config.serve.clone());
        let server =
            tokio::spawn(
                async move { serve(listener, routes, &settings, refusal, std::future::pending()).await },
            );
        let client = Client::new(&app, "");
        let bank = Bank {
            visitor: Visitor::with_client(&client),
            client,
            app,
            url,
            events_url: format!("http://{address}/webhooks/stripe"),
            http: reqwest::Client::new(),
            _simulator: simulator,
            server,
        };
        bank.send_events_to(Some(&bank.events_url)).await;
        bank
    }

    /// The URL of the server.
    pub fn server_url(&self) -> &str {
        self.events_url.trim_end_matches("/webhooks/stripe")
    }

    /// Sends events to a URL, or nowhere.
    pub async fn send_events_to(&self, url: Option<&str>) {
        self.control("webhooks", json!({ "url": url, "secret": WEBHOOK_SECRET }))
            .await;
    }

    /// Signs events of connected accounts with a secret of their own.
    pub async fn sign_for_accounts_with(&self, secret: &str) {
        let (url, own) = (&self.events_url, WEBHOOK_SECRET);
        let endpoint = json!({ "url": url, "secret": own, "connect_secret": secret });
        self.control("webhooks", endpoint).await;
    }

    /// Calls the control interface of the simulator, which must succeed.
    pub async fn control(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.try_control(path, body).await;
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// Calls the control interface of the simulator. Returns the status and the answer.
    pub async fn try_control(&self, path: &str, body: Value) -> (u16, Value) {
        let request = self.http.post(format!("{}/simulator/{path}", self.url));
        let response = request.body(body.to_string()).send().await.unwrap();
        let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// Removes all faults of the simulator.
    pub async fn remove_faults(&self) {
        let request = self.http.delete(format!("{}/simulator/faults", self.url));
        assert!(request.send().await.unwrap().status().is_success());
    }

    /// Calls the API of the simulator, as another program with the same key would.
    pub async fn call(&self, path: &str, form: &str) -> Value {
        let request = self.http.post(format!("{}/v1/{path}", self.url));
        let request = request
            .header("authorization", format!("Bearer {SECRET_KEY}"))
            .header("content-type", "application/x-www-form-urlencoded");
        let response = request.body(form.to_owned()).send().await.unwrap();
        let text = response.text().await.unwrap();
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: {text}"))
    }

    /// Deletes an object of the simulator, as another program with the same key would.
    pub async fn delete(&self, path: &str) {
        let request = self.http.delete(format!("{}/v1/{path}", self.url));
        let request = request.header("authorization", format!("Bearer {SECRET_KEY}"));
        assert_eq!(request.send().await.unwrap().status().as_u16(), 200, "{path}");
    }

    /// Sends a form of one of the simulator's pages, as a browser does.
    pub async fn send_form(&self, url: &str, fields: &[(&str, &str)]) {
        let form = fields.iter().map(|(name, value)| format!("{name}={value}"));
        let form = form.collect::<Vec<_>>().join("&");
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let request = browser.build().unwrap().post(url).body(form);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let status = request.send().await.unwrap().status().as_u16();
        assert_eq!(status, 303, "{url}");
    }

    /// Reads from the API of the simulator.
    pub async fn read(&self, path: &str) -> Value {
        self.read_of("", path).await
    }

    /// Reads what belongs to a connected account.
    pub async fn read_of(&self, account: &str, path: &str) -> Value {
        let request = self.http.get(format!("{}/v1/{path}", self.url));
        let mut request = request.header("authorization", format!("Bearer {SECRET_KEY}"));
        if !account.is_empty() {
            request = request.header("stripe-account", account);
        }
        let text = request.send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: {text}"))
    }

    /// Waits until the simulator has delivered all events, and this server has handled them.
    pub async fn settle(&self, world: &World) {
        let idle = self.control("idle", json!({ "timeout_ms": 60_000 })).await;
        assert_eq!(idle["idle"], true, "{idle}");
        crate::wait::eventually("all events are handled", async || {
            let open = "select id from provider_events where handled_at is null and tries = 0";
            world.texts(open).await.is_empty().then_some(())
        })
        .await;
    }

    /// Sends the donation form, and returns where it leads.
    pub async fn start(&self, page: &str, fields: &[(&str, &str)]) -> String {
        let give = format!("{page}/give");
        let form = self.visitor.get(200, &give).await.text();
        let once = hidden(&form, "once");
        let fields = [fields, &[("once", once.as_str())]].concat();
        let response = self.visitor.post(303, &give, &fields).await;
        response.header("location").to_owned()
    }

    /// Starts a donation and pays it with a card. Returns its session.
    pub async fn give(&self, amount: &str, card: &str) -> String {
        let url = self
            .start(PROFILE, &[("amount", amount), ("email", "ada@example.org")])
            .await;
        let session = session_of(&url);
        self.pay(&session, card).await;
        session
    }

    pub async fn pay(&self, session: &str, card: &str) {
        let body = json!({ "card_number": card, "email": "ada@example.org" });
        self.control(&format!("sessions/{session}/pay"), body).await;
    }

    /// Compares the ledger with the simulator.
    pub async fn reconcile(&self) -> (Reconciliation, Vec<String>) {
        let payments = self.app.payments().unwrap();
        let compared = payments.reconcile(Some(0), None).await.unwrap();
        let differences = list_differences(&self.app.db).await.unwrap();
        let differences = differences.into_iter().map(|listed| {
            let difference = listed.difference;
            format!(
                "{} {} {}",
                difference.kind.as_str(),
                difference.object,
                difference.amount.get()
            )
        });
        (compared, differences.collect())
    }

    /// Asserts that Stripe and the ledger agree to the cent.
    pub async fn assert_reconciled(&self) {
        let (compared, differences) = self.reconcile().await;
        assert!(differences.is_empty(), "{differences:?}");
        assert_eq!(compared.balance, compared.ledger_balance);
    }
}

/// Returns the session whose page a URL shows.
pub fn session_of(url: &str) -> String {
    let start = url
        .find("cs_")
        .unwrap_or_else(|| panic!("{url} is not a payment page"));
    let id = url[start..].split(['/', '?', '#']).next();
    id.unwrap_or_default().to_owned()
}
