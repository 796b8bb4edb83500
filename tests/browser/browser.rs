//! Chromium, driven through a chromedriver of its own.

use crate::site::Site;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use thirtyfour::error::WebDriverErrorInner;
use thirtyfour::prelude::*;

const ARGUMENTS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1280,900",
];

/// Ends with the test, also with one that fails.
struct Chromedriver(Child);

impl Drop for Chromedriver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct Browser {
    pub driver: WebDriver,
    server: Chromedriver,
    _profile: TempDir,
}

impl Browser {
    pub async fn start() -> Browser {
        Browser::start_with(&["browser"]).await
    }

    /// One that also keeps a log of its requests, which takes time.
    pub async fn start_with_requests() -> Browser {
        Browser::start_with(&["browser", "performance"]).await
    }

    async fn start_with(logs: &[&str]) -> Browser {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let server = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(Chromedriver)
            .expect("no chromedriver: run make test");
        let profile = tempfile::tempdir().unwrap();
        let mut capabilities = DesiredCapabilities::chrome();
        let folder = format!("--user-data-dir={}", profile.path().display());
        for argument in ARGUMENTS.into_iter().chain([folder.as_str()]) {
            capabilities.add_arg(argument).unwrap();
        }
        for log in logs {
            capabilities
                .set_logging_prefs(*log, thirtyfour::LoggingPrefsLogLevel::All)
                .unwrap();
        }
        let address = format!("http://127.0.0.1:{port}");
        for _ in 0..200 {
            if let Ok(driver) = WebDriver::new(&address, capabilities.clone()).await {
                return Browser {
                    driver,
                    server,
                    _profile: profile,
                };
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("Chromium did not start");
    }

    pub async fn stop(self) {
        self.driver.quit().await.unwrap();
        drop(self.server);
    }

    pub async fn goto(&self, site: &Site, path: &str) {
        self.driver.goto(format!("{}{path}", site.url)).await.unwrap();
    }

    pub async fn find(&self, css: &str) -> WebElement {
        let found = self.driver.query(By::Css(css)).first().await;
        found.unwrap_or_else(|fault| panic!("no {css}: {fault}"))
    }

    pub async fn click(&self, css: &str) {
        self.find(css).await.click().await.unwrap();
    }

    pub async fn fill(&self, css: &str, text: &str) {
        self.find(css).await.send_keys(text).await.unwrap();
    }

    /// The text of an element. One that goes with its page while it is read is looked for again on the next.
    pub async fn text(&self, css: &str) -> String {
        loop {
            match self.find(css).await.text().await {
                Err(fault) if matches!(*fault, WebDriverErrorInner::StaleElementReference(_)) => {}
                text => return text.unwrap(),
            }
        }
    }

    /// Runs a script that returns a value or a promise of one.
    pub async fn run(&self, script: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1]; (async () => {{ {script} }})().then(done, (fault) => done(String(fault)))"
        );
        let answer = self.driver.execute_async(script, vec![]).await.unwrap();
        answer.json().clone()
    }

    /// The status of a call of the interface by a page.
    pub async fn call(&self, path: &str) -> u64 {
        let script = format!("return (await fetch({path:?})).status;");
        self.run(&script).await.as_u64().unwrap()
    }

    /// The status of a call that only an account may make, with a public and a private key. Without credentials of its
    /// own, so that the browser does not ask for a password when the keys are refused.
    pub async fn call_with(&self, path: &str, public: &str, private: &str) -> u64 {
        let script = format!(
            "const authorization = 'Basic ' + btoa({public:?} + ':' + {private:?});
            return (await fetch({path:?}, {{ headers: {{ authorization }}, credentials: 'omit' }})).status;"
        );
        self.run(&script).await.as_u64().unwrap()
    }

    /// Presses keys as a person does, wherever the focus is.
    pub async fn press(&self, keys: &str) {
        let chain = self.driver.action_chain().send_keys(keys);
        chain.perform().await.unwrap();
    }

    pub async fn key(&self, key: Key) {
        self.press(&key.value().to_string()).await;
    }

    /// Waits until a script tells this; most things on a page happen a moment later.
    pub async fn wait_for(&self, script: &str, expected: impl Into<Value>) {
        let (mut found, expected) = (Value::Null, expected.into());
        for _ in 0..100 {
            found = self.run(script).await;
            if found == expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{script} is {found} and not {expected}");
    }

    /// The path of the page that is open.
    pub async fn path(&self) -> String {
        self.driver.current_url().await.unwrap().path().to_owned()
    }

    /// The addresses of all requests since this was asked last.
    pub async fn requests(&self) -> Vec<String> {
        let log = self.driver.get_log("performance").await.unwrap();
        let address = |entry: thirtyfour::BrowserLogEntry| {
            let event: Value = serde_json::from_str(&entry.message).ok()?;
            let message = &event["message"];
            let is_request = message["method"] == "Network.requestWillBeSent";
            let address = message["params"]["request"]["url"].as_str()?;
            // The page of a new tab is the browser's own.
            let is_own = address.starts_with("chrome");
            (is_request && !is_own).then(|| address.to_owned())
        };
        log.into_iter().filter_map(address).collect()
    }

    /// What the browser complained of since this was asked last.
    pub async fn complaints(&self) -> Vec<String> {
        let log = self.driver.get_log("browser").await.unwrap();
        log.into_iter().map(|entry| entry.message).collect()
    }

    /// Pages that are opened from now on run none of their scripts.
    pub async fn turn_scripts_off(&self) {
        self.emulate("Emulation.setScriptExecutionDisabled", json!({"value": true}))
            .await;
    }

    pub async fn emulate(&self, command: &str, parameters: Value) -> Value {
        self.driver.cdp().send_raw(command, parameters).await.unwrap()
    }

    pub async fn prefer(&self, scheme: &str) {
        // Without motion, colours are what they are at once.
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
