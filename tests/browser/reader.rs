//! Looks at pages on a phone and on a desk, in light and dark: axe finds nothing, nothing sticks out to the side, no page
//! is heavy, and a picture is kept in `target/screenshots` for people to look at.

use crate::axe;
use crate::browser::Browser;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::cell::RefCell;
use std::path::Path;

/// Bytes of a page with its styles and scripts, as they are before any compression, without pictures.
const HEAVIEST: u64 = 100_000;
const WEIGHT: &str = "const loaded = performance.getEntriesByType('resource').filter(({ name }) => !new URL(name).pathname.startsWith('/media/'));
    const all = [...performance.getEntriesByType('navigation'), ...loaded];
    return all.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0);";
const WIDTH: &str = "return document.scrollingElement.scrollWidth;";

pub struct Reader {
    pub browser: Browser,
    faults: RefCell<Vec<String>>,
}

impl Reader {
    pub async fn start() -> Reader {
        Reader {
            browser: Browser::start().await,
            faults: RefCell::default(),
        }
    }

    /// Fails where something is wrong with any page.
    pub async fn stop(self) {
        self.browser.stop().await;
        let faults = self.faults.take();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    /// Looks at the page that is open.
    pub async fn look_at(&self, name: &str) {
        let weight = self.browser.run(WEIGHT).await.as_u64().unwrap();
        if weight >= HEAVIEST {
            self.note(format!("{name} weighs {weight} bytes"));
        }
        for width in [375, 1280] {
            self.browser.resize(width).await;
            let used = self.browser.run(WIDTH).await;
            if used.as_u64() > Some(width.into()) {
                self.note(format!("{name} is {used} wide at {width}"));
            }
            for scheme in ["light", "dark"] {
                self.browser.prefer(scheme).await;
                let found = axe::findings(&self.browser).await;
                if !found.is_empty() {
                    self.note(format!("{name} at {width}, {scheme}:\n{found}"));
                }
                self.take_picture(&format!("{name}-{width}-{scheme}.png")).await;
            }
        }
    }

    fn note(&self, fault: String) {
        self.faults.borrow_mut().push(fault);
    }

    async fn take_picture(&self, file: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let parameters = json!({"captureBeyondViewport": true});
        let picture = self.browser.emulate("Page.captureScreenshot", parameters).await;
        let picture = STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
        std::fs::write(folder.join(file), picture).unwrap();
    }
}
