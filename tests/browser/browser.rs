//! Chromium, driven through a chromedriver of its own.

use crate::site::Site;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
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

    pub async fn text(&self, css: &str) -> String {
        self.find(css).await.text().await.unwrap()
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
