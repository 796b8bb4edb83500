//! The accessibility checker axe-core, which `tests/with-services.sh` downloads.

use crate::browser::Browser;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static AXE: LazyLock<String> = LazyLock::new(|| {
    let path = std::env::var_os("CAUSEWAY_TEST_AXE").map(PathBuf::from);
    let path = path.unwrap_or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/axe/node_modules/axe-core/axe.min.js")
    });
    std::fs::read_to_string(path).expect("axe-core is missing: use make test")
});

const LOADED: &str = "return 'axe' in window;";
/// Selectors, stylesheets loaded again and nodes without violations are not needed, and take much of the time.
const RUN: &str = "const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const options = { runOnly, resultTypes: ['violations'], selectors: false, preload: false };
    const { violations } = await axe.run(document, options);
    return violations
        .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
        .join('\\n');";

/// Checks the current page and returns the violations, one per line.
pub async fn violations(browser: &Browser) -> String {
    if browser.run(LOADED).await != true {
        browser.driver.execute(AXE.clone(), vec![]).await.unwrap();
    }
    let found = browser.run(RUN).await;
    found.as_str().expect("a text").to_owned()
}
