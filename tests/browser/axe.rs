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
const RUN: &str = "const { violations } = await axe.run(document, { runOnly });
    return violations
        .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
        .join('\\n');";

/// The rules to check.
#[derive(Clone, Copy)]
pub enum Rules {
    All,
    /// Those that depend on the color scheme.
    Colors,
}

impl Rules {
    /// Returns the option `runOnly` of axe.
    fn selection(self) -> &'static str {
        match self {
            Rules::All => "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']",
            Rules::Colors => "{ type: 'rule', values: ['color-contrast', 'link-in-text-block'] }",
        }
    }
}

/// Checks the current page and returns the violations, one per line.
pub async fn violations(browser: &Browser, rules: Rules) -> String {
    if browser.run(LOADED).await != true {
        browser.driver.execute(AXE.clone(), vec![]).await.unwrap();
    }
    let found = browser
        .run(&format!("const runOnly = {};\n{RUN}", rules.selection()))
        .await;
    found.as_str().expect("a text").to_owned()
}
