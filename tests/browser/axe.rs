//! axe-core, which finds what keeps people out. `tests/with-services.sh` fetches it and says where it is.

use crate::browser::Browser;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static AXE: LazyLock<String> = LazyLock::new(|| {
    let place = std::env::var_os("CAUSEWAY_TEST_AXE").map(PathBuf::from);
    let place = place.unwrap_or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/axe/node_modules/axe-core/axe.min.js")
    });
    std::fs::read_to_string(place).expect("axe-core is not there: run make test")
});

/// Everything that is wrong with the page that is open, a line each.
pub async fn findings(browser: &Browser) -> String {
    browser.driver.execute(AXE.clone(), vec![]).await.unwrap();
    let script = "const { violations } = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
        return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`)).join('\\n');";
    let found = browser.run(script).await;
    found.as_str().unwrap_or_default().to_owned()
}
