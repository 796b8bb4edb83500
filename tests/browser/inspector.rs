//! Inspects pages on a phone, a tablet and a desktop, in light and dark mode: axe finds nothing, no page scrolls sideways, no page
//! is too large. `make screenshots` saves screenshots in `target/screenshots`.

use crate::axe;
use crate::browser::Browser;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::cell::RefCell;
use std::path::Path;

/// The maximum size of a page with its styles and scripts, uncompressed, without pictures and fonts.
const MAX_PAGE_BYTES: u64 = 100_000;
const PAGE_BYTES: &str = "const loaded = performance.getEntriesByType('resource')
        .filter(({ name }) => !new URL(name).pathname.startsWith('/media/') && !name.endsWith('.woff2'));
    const all = [...performance.getEntriesByType('navigation'), ...loaded];
    return all.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0);";
const PAGE_WIDTH: &str = "return document.scrollingElement.scrollWidth;";

pub struct Inspector {
    pub browser: Browser,
    problems: RefCell<Vec<String>>,
}

impl Inspector {
    pub async fn start() -> Inspector {
        let browser = Browser::start().await;
        // Otherwise a screenshot lacks what is below the scrollbar.
        browser
            .emulate("Emulation.setScrollbarsHidden", json!({"hidden": true}))
            .await;
        Inspector {
            browser,
            problems: RefCell::default(),
        }
    }

    /// Fails if any page had a problem.
    pub async fn stop(self) {
        self.browser.stop().await;
        let problems = self.problems.take();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    /// Inspects the current page.
    pub async fn inspect(&self, name: &str) {
        let bytes = self.browser.run(PAGE_BYTES).await.as_u64().unwrap();
        // The page of all components is for operators only.
        if bytes >= MAX_PAGE_BYTES && name != "operator-design" {
            self.report(format!("{name} has {bytes} bytes"));
        }
        // Every element is on a phone or a desktop, and has the same colors on both, so each is inspected in one color
        // scheme. `make screenshots` inspects all combinations, and a tablet.
        let takes_screenshots = std::env::var_os("CAUSEWAY_SCREENSHOTS").is_some();
        let views: &[(u32, &[&str])] = if takes_screenshots {
            &[
                (375, &["light", "dark"]),
                (768, &["light", "dark"]),
                (1280, &["light", "dark"]),
            ]
        } else {
            &[(375, &["light"]), (1280, &["dark"])]
        };
        for &(width, schemes) in views {
            self.browser.resize(width).await;
            let used = self.browser.run(PAGE_WIDTH).await;
            if used.as_u64() > Some(width.into()) {
                self.report(format!("{name} is {used} pixels wide at {width}"));
            }
            for scheme in schemes {
                self.browser.set_color_scheme(scheme).await;
                let violations = axe::violations(&self.browser).await;
                if !violations.is_empty() {
                    self.report(format!("{name} at {width}, {scheme}:\n{violations}"));
                }
                if takes_screenshots {
                    self.take_screenshot(&format!("{name}-{width}-{scheme}.png"))
                        .await;
                }
            }
        }
    }

    fn report(&self, problem: String) {
        self.problems.borrow_mut().push(problem);
    }

    async fn take_screenshot(&self, file: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let parameters = json!({"captureBeyondViewport": true});
        let screenshot = self.browser.emulate("Page.captureScreenshot", parameters).await;
        let screenshot = STANDARD.decode(screenshot["data"].as_str().unwrap()).unwrap();
        std::fs::write(folder.join(file), screenshot).unwrap();
    }
}
