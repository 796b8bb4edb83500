//! Chromium, controlled through its own chromedriver.

use crate::site::Site;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use thirtyfour::common::types::TimeoutConfiguration;
use thirtyfour::error::WebDriverErrorInner;
use thirtyfour::extensions::query::ElementPollerWithTimeout;
use thirtyfour::prelude::*;

/// Ends a wait that would otherwise last forever. No machine is so slow that it needs this long.
pub const TIMEOUT: Duration = Duration::from_mins(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const MAX_STARTS: usize = 10;

const BINARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chromium.sh");
const CHROMEDRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chromedriver.sh");

const ARGUMENTS: [&str; 8] = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1280,900",
];

/// A chromedriver process that ends with the test process, even if that is killed.
struct Chromedriver {
    process: Child,
    port: u16,
    /// The folder of the profile, which is removed when the process ends.
    profile: PathBuf,
    /// Keeps the pipe open that chromedriver writes to.
    _stdout: BufReader<ChildStdout>,
}

impl Chromedriver {
    /// Starts chromedriver on a free port. It exits if another process takes that port at the same moment.
    fn start() -> Chromedriver {
        (0..MAX_STARTS)
            .find_map(|_| Chromedriver::try_start())
            .expect("chromedriver listens")
    }

    fn try_start() -> Option<Chromedriver> {
        let profile = tempfile::tempdir().unwrap().keep();
        let mut process = Command::new(CHROMEDRIVER)
            .arg(&profile)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        let port = loop {
            line.clear();
            if stdout.read_line(&mut line).unwrap() == 0 {
                drop(process.stdin.take());
                process.wait().unwrap();
                return None;
            }
            let port = line.split_once("started successfully on port ");
            if let Some((_, port)) = port {
                break port.trim_end().trim_end_matches('.').parse().unwrap();
            }
        };
        Some(Chromedriver {
            process,
            port,
            profile,
            _stdout: stdout,
        })
    }
}

impl Drop for Chromedriver {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Browsers that no test uses. Starting one takes longer than most tests.
static IDLE: Mutex<Vec<Browser>> = Mutex::new(Vec::new());

pub struct Browser {
    pub driver: WebDriver,
    /// Whether another test may use it.
    is_reusable: bool,
    _chromedriver: Chromedriver,
}

impl Browser {
    /// A browser without cookies and caches.
    pub async fn start() -> Browser {
        let idle = IDLE.lock().unwrap().pop();
        match idle {
            Some(browser) => browser,
            None => Browser::start_with(&["browser"], true).await,
        }
    }

    /// Starts a browser that also logs its requests, which makes it slower.
    pub async fn start_with_request_log() -> Browser {
        Browser::start_with(&["browser", "performance"], false).await
    }

    async fn start_with(logs: &[&str], is_reusable: bool) -> Browser {
        let chromedriver = Chromedriver::start();
        platform::tls::install_provider();
        let mut capabilities = DesiredCapabilities::chrome();
        capabilities.set_binary(BINARY).unwrap();
        let folder = format!("--user-data-dir={}", chromedriver.profile.display());
        for argument in ARGUMENTS.into_iter().chain([folder.as_str()]) {
            capabilities.add_arg(argument).unwrap();
        }
        for log in logs {
            capabilities
                .set_logging_prefs(*log, thirtyfour::LoggingPrefsLogLevel::All)
                .unwrap();
        }
        // A connection ends with the runtime of the test that opened it, so none is kept for another test.
        let client = reqwest::Client::builder()
            .timeout(2 * TIMEOUT)
            .pool_max_idle_per_host(0)
            .build()
            .unwrap();
        let url = format!("http://127.0.0.1:{}", chromedriver.port);
        let start = Instant::now();
        let driver = loop {
            let session = WebDriver::builder(&url, capabilities.clone())
                .poller(Arc::new(ElementPollerWithTimeout::new(TIMEOUT, POLL_INTERVAL)))
                .client(client.clone())
                .await;
            match session {
                Ok(driver) => break driver,
                // chromedriver gives up after a minute, which a slow machine may need to start Chromium.
                Err(error) => assert!(start.elapsed() < TIMEOUT, "Chromium did not start: {error}"),
            }
            tokio::time::sleep(10 * POLL_INTERVAL).await;
        };
        // Elements are waited for by the poller.
        let timeouts = TimeoutConfiguration::new(Some(TIMEOUT), Some(TIMEOUT), Some(Duration::ZERO));
        driver.update_timeouts(timeouts).await.unwrap();
        Browser {
            driver,
            is_reusable,
            _chromedriver: chromedriver,
        }
    }

    /// Leaves the browser to the next test. One whose test fails is not used again.
    pub async fn stop(self) {
        if self.is_reusable {
            self.reset().await;
            IDLE.lock().unwrap().push(self);
        } else {
            self.driver.quit().await.unwrap();
        }
    }

    /// Forgets what a test did. Emulations and scripts belong to a tab, so a new one replaces all that are open.
    async fn reset(&self) {
        let driver = &self.driver;
        let url = driver.current_url().await.unwrap();
        if url.has_host() {
            let origin = url.origin().ascii_serialization();
            let data = json!({"origin": origin, "storageTypes": "all"});
            self.emulate("Storage.clearDataForOrigin", data).await;
        }
        for command in [
            "Network.clearBrowserCookies",
            "Network.clearBrowserCache",
            "Browser.resetPermissions",
        ] {
            self.emulate(command, json!({})).await;
        }
        let old = driver.windows().await.unwrap();
        let new = driver.new_tab().await.unwrap();
        for window in old {
            driver.switch_to_window(window).await.unwrap();
            driver.close_window().await.unwrap();
        }
        driver.switch_to_window(new).await.unwrap();
        self.console().await;
    }

    pub async fn goto(&self, site: &Site, path: &str) {
        self.driver.goto(format!("{}{path}", site.url)).await.unwrap();
    }

    pub async fn find(&self, css: &str) -> WebElement {
        let found = self.driver.query(By::Css(css)).first().await;
        found.unwrap_or_else(|error| panic!("no {css}: {error}"))
    }

    pub async fn click(&self, css: &str) {
        let element = self.find(css).await;
        // At the edge of the window, a bar may cover it.
        let center = "arguments[0].scrollIntoView({ block: 'center' });";
        let argument = element.to_json().unwrap();
        self.driver.execute(center, vec![argument]).await.unwrap();
        element.click().await.unwrap();
    }

    pub async fn fill(&self, css: &str, text: &str) {
        self.find(css).await.send_keys(text).await.unwrap();
    }

    pub async fn clear(&self, css: &str) {
        self.find(css).await.clear().await.unwrap();
    }

    /// Chooses another amount than the suggested ones, inside the element `within`.
    pub async fn enter_amount(&self, within: &str, amount: &str) {
        self.click(&format!("{within} input[value=other]")).await;
        let field = format!("{within} #other_amount");
        self.clear(&field).await;
        self.fill(&field, amount).await;
    }

    /// The text of an element. If the page changes meanwhile, the element of the next page is read.
    pub async fn text(&self, css: &str) -> String {
        loop {
            match self.find(css).await.text().await {
                Err(error) if matches!(*error, WebDriverErrorInner::StaleElementReference(_)) => {}
                text => return text.unwrap(),
            }
        }
    }

    /// Runs a script that returns a value or a promise.
    pub async fn run(&self, script: &str) -> Value {
        self.try_run(script).await.unwrap()
    }

    /// Runs a script, which fails if the page changes meanwhile.
    async fn try_run(&self, script: &str) -> WebDriverResult<Value> {
        let script = format!(
            "const done = arguments[arguments.length - 1];
            (async () => {{ {script} }})().then(done, (error) => done(String(error)))"
        );
        let result = self.driver.execute_async(script, vec![]).await?;
        Ok(result.json().clone())
    }

    /// Calls the API from the page and returns the status.
    pub async fn call(&self, path: &str) -> u64 {
        let script = format!("return (await fetch({path:?})).status;");
        self.run(&script).await.as_u64().unwrap()
    }

    /// Calls the API with a public and a private key and returns the status. The browser's own credentials are omitted,
    /// so that it does not ask for a password when the keys are refused.
    pub async fn call_with_keys(&self, path: &str, public: &str, private: &str) -> u64 {
        let script = format!(
            "const authorization = 'Basic ' + btoa({public:?} + ':' + {private:?});
            return (await fetch({path:?}, {{ headers: {{ authorization }}, credentials: 'omit' }})).status;"
        );
        self.run(&script).await.as_u64().unwrap()
    }

    /// Calls the API until it returns this status. The server learns of changed keys a moment later.
    pub async fn wait_for_status(&self, path: &str, status: u64) {
        let script = format!("return (await fetch({path:?})).status;");
        self.wait_for(&script, status).await;
    }

    /// Types keys into the focused element.
    pub async fn press(&self, keys: &str) {
        let chain = self.driver.action_chain().send_keys(keys);
        chain.perform().await.unwrap();
    }

    pub async fn key(&self, key: Key) {
        self.press(&key.value().to_string()).await;
    }

    /// Focuses an element and presses Enter, as people without a mouse do.
    pub async fn press_on(&self, css: &str) {
        self.find(css).await.focus().await.unwrap();
        self.key(Key::Enter).await;
    }

    /// Waits until a script returns this value.
    pub async fn wait_for(&self, script: &str, expected: impl Into<Value>) {
        let (start, expected) = (Instant::now(), expected.into());
        loop {
            let found = self.try_run(script).await;
            if found.as_ref().is_ok_and(|found| *found == expected) {
                return;
            }
            assert!(
                start.elapsed() < TIMEOUT,
                "{script} returned {found:?}, not {expected}"
            );
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Reloads the page until a script returns this value.
    pub async fn reload_until(&self, script: &str, expected: impl Into<Value>) {
        let (start, expected) = (Instant::now(), expected.into());
        loop {
            let found = self.run(script).await;
            if found == expected {
                return;
            }
            assert!(
                start.elapsed() < TIMEOUT,
                "{script} returned {found}, not {expected}"
            );
            tokio::time::sleep(10 * POLL_INTERVAL).await;
            self.driver.refresh().await.unwrap();
        }
    }

    /// Reloads the page until an element has this text.
    pub async fn reload_until_text(&self, css: &str, text: &str) {
        let script = format!("return document.querySelector({css:?})?.textContent ?? null;");
        self.reload_until(&script, text).await;
    }

    /// Waits for the page that an action opens. Unlike a click, keys and scripts do not wait for it.
    pub async fn wait_for_page(&self, open: impl Future<Output = ()>) {
        self.run("window.isOldPage = true;").await;
        open.await;
        let script = "return !window.isOldPage && document.readyState === 'complete';";
        self.wait_for(script, true).await;
    }

    /// The path of the current page.
    pub async fn path(&self) -> String {
        self.driver.current_url().await.unwrap().path().to_owned()
    }

    /// The URLs of all requests since the last call.
    pub async fn requests(&self) -> Vec<String> {
        let log = self.driver.get_log("performance").await.unwrap();
        let url = |entry: thirtyfour::BrowserLogEntry| {
            let event: Value = serde_json::from_str(&entry.message).ok()?;
            let message = &event["message"];
            let is_request = message["method"] == "Network.requestWillBeSent";
            let url = message["params"]["request"]["url"].as_str()?;
            // A new tab opens a page of the browser itself.
            let is_internal = url.starts_with("chrome");
            (is_request && !is_internal).then(|| url.to_owned())
        };
        log.into_iter().filter_map(url).collect()
    }

    /// The messages in the browser's console since the last call.
    pub async fn console(&self) -> Vec<String> {
        let log = self.driver.get_log("browser").await.unwrap();
        log.into_iter().map(|entry| entry.message).collect()
    }

    /// Disables scripts on pages that are opened from now on.
    pub async fn disable_scripts(&self) {
        self.emulate("Emulation.setScriptExecutionDisabled", json!({"value": true}))
            .await;
    }

    /// Sends a command of the Chrome DevTools Protocol.
    pub async fn emulate(&self, command: &str, parameters: Value) -> Value {
        self.driver.cdp().send_raw(command, parameters).await.unwrap()
    }

    pub async fn set_color_scheme(&self, scheme: &str) {
        // Without transitions, colors change immediately.
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        self.emulate("Emulation.setEmulatedMedia", json!({"features": features}))
            .await;
    }

    pub async fn resize(&self, width: u32) {
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500});
        self.emulate("Emulation.setDeviceMetricsOverride", metrics).await;
    }
}
