//! Pages with the keyboard only: Tab to move, arrow keys to choose, Enter to send.

use crate::browser::Browser;
use crate::site::{PASSWORD, Site};
use access::accounts::store;
use access::accounts::two_factor::store as two_factor;
use thirtyfour::Key;

/// More than any page has focusable elements.
const MAX_TABS: usize = 60;

struct Keyboard(Browser);

impl Keyboard {
    /// Presses Tab until an element has the focus, and asserts that the focus is visible.
    async fn tab_to(&self, css: &str) {
        for _ in 0..MAX_TABS {
            self.0.key(Key::Tab).await;
            let script = format!(
                "const focused = document.activeElement;
                return focused.matches({css:?}) ? getComputedStyle(focused).outlineStyle : '';"
            );
            let outline = self.0.run(&script).await;
            if outline != "" {
                assert_ne!(outline, "none", "the focus of {css} is not visible");
                return;
            }
        }
        panic!("{css} cannot be reached with the keyboard");
    }

    /// Opens a page with Enter on a link or button.
    async fn enter(&self, css: &str) {
        self.tab_to(css).await;
        self.0.wait_for_page(self.0.key(Key::Enter)).await;
    }

    async fn sign_up(&self, site: &Site) {
        self.0.goto(site, "/dashboard/sign-up").await;
        self.tab_to("#username").await;
        for text in ["grace", "grace@example.org", PASSWORD] {
            self.0.press(text).await;
            self.0.key(Key::Tab).await;
        }
        self.0.wait_for_page(self.0.key(Key::Enter)).await;
    }

    /// Enters text in a field, and submits its form with Enter.
    async fn submit(&self, css: &str, text: &str) {
        self.tab_to(css).await;
        self.0.press(text).await;
        self.0.wait_for_page(self.0.key(Key::Enter)).await;
    }

    async fn create_key(&self, name: &str, is_private: bool) -> String {
        self.enter(".part-nav a[href='/dashboard']").await;
        self.enter("main a[href='/dashboard/keys/new']").await;
        self.tab_to("#name").await;
        self.0.press(name).await;
        self.tab_to("input[type=radio]").await;
        if is_private {
            self.0.key(Key::Down).await;
        }
        self.enter("form.form button").await;
        self.0.text("#key").await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_developer_manages_keys_with_the_keyboard_only() {
    let site = Site::start().await;
    let keyboard = Keyboard(Browser::start().await);
    keyboard.0.goto(&site, "/dashboard/sign-up").await;
    keyboard.tab_to(".skip").await;
    keyboard.sign_up(&site).await;
    assert!(keyboard.0.text(".alert-good").await.contains("Welcome"));

    let public = keyboard.create_key("website", false).await;
    let private = keyboard.create_key("server", true).await;
    assert!(public.starts_with("cwpk_") && private.starts_with("cwsk_"));
    let search = |key: &str| format!("/v0.2/search/red%20cross?apiKey={key}");
    assert_eq!(keyboard.0.call(&search(&public)).await, 200);
    let fundraisers = "/v0.2/fundraisers";
    assert_eq!(
        keyboard.0.call_with_keys(fundraisers, &public, &private).await,
        200
    );

    keyboard.enter(".part-nav a[href='/dashboard/usage']").await;
    keyboard.0.reload_until_text("#served", "2").await;
    keyboard.enter("main ul a[href^='/dashboard/keys/']").await;
    keyboard.enter("a[href$='/rotate']").await;
    keyboard.tab_to("input[type=radio]").await;
    keyboard.enter("form.form button").await;
    let rotated = keyboard.0.text("#key").await;
    assert_eq!(keyboard.0.call(&search(&rotated)).await, 200);
    keyboard.enter(".actions a[href^='/dashboard/keys/']").await;
    keyboard.enter("a[href$='/revoke']").await;
    keyboard.enter("form.form button").await;
    assert!(keyboard.0.text(".alert-good").await.contains("revoked"));
    keyboard.0.wait_for_status(&search(&rotated), 401).await;
    assert_eq!(
        keyboard.0.call_with_keys(fundraisers, &rotated, &private).await,
        401
    );
    keyboard.enter(".part-nav button").await;
    keyboard.0.find("input[type=password]").await;
    assert!(keyboard.0.text("h1").await.contains("Sign in"));
    keyboard.0.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fundraiser_is_started_with_the_keyboard_only() {
    let site = Site::start().await;
    let keyboard = Keyboard(Browser::start().await);
    keyboard.sign_up(&site).await;
    keyboard.enter(".part-nav a[href='/dashboard/fundraisers']").await;
    keyboard.enter("main a[href='/dashboard/fundraisers/new']").await;
    keyboard.tab_to("#nonprofit").await;
    keyboard.0.press("red cross").await;
    let expanded = "return document.querySelector('#nonprofit').ariaExpanded;";
    keyboard.0.wait_for(expanded, "true").await;
    keyboard.0.key(Key::Escape).await;
    keyboard.0.wait_for(expanded, "false").await;
    keyboard.0.key(Key::Down).await;
    keyboard.0.key(Key::Enter).await;
    let chosen = "return document.querySelector('[name=id_0]').value !== '';";
    keyboard.0.wait_for(chosen, true).await;
    keyboard.tab_to("#title").await;
    keyboard.0.press("A run").await;
    // Enter in a field opens the preview.
    keyboard.0.wait_for_page(keyboard.0.key(Key::Enter)).await;
    assert_eq!(keyboard.0.text("h1").await, "A run");
    keyboard.enter("button[value=edit]").await;
    keyboard.enter("button[value=publish]").await;
    assert!(
        keyboard
            .0
            .text(".alert-good")
            .await
            .contains("Fundraiser created")
    );
    keyboard.0.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_filtered_and_sorted_with_the_keyboard_only() {
    let site = Site::start().await;
    let keyboard = Keyboard(Browser::start().await);
    keyboard.0.goto(&site, "/search?q=university").await;
    keyboard.tab_to(".filters summary").await;
    keyboard.0.key(Key::Enter).await;
    keyboard
        .0
        .wait_for("return document.querySelector('.filters details').open;", true)
        .await;
    keyboard.tab_to("#state").await;
    keyboard.0.press("New York").await;
    keyboard.tab_to("input[name=deductible]").await;
    keyboard.0.press(" ").await;
    keyboard.enter(".filters-fields > button").await;
    let query = keyboard.0.run("return location.search;").await;
    assert_eq!(
        query,
        "?q=university&cause=&state=NY&city=&size=&near=&radius=25&deductible=1"
    );
    let chips = "return [...document.querySelectorAll('.chips .chip')].map((chip) => chip.firstChild.data).join('|');";
    assert_eq!(
        keyboard.0.run(chips).await,
        "New York|Tax-deductible|Clear all filters"
    );
    keyboard.enter(".results-sort a[href$='sort=name']").await;
    let names = "const names = [...document.querySelectorAll('.hit h3')].map((name) => name.textContent.toLowerCase());
        return names.length > 1 && names.join() === names.toSorted().join();";
    assert_eq!(keyboard.0.run(names).await, true);
    keyboard.enter(".chips .chip").await;
    let query = keyboard.0.run("return location.search;").await;
    assert_eq!(query, "?q=university&deductible=1&sort=name");
    keyboard.0.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_menu_of_a_phone_is_one_button_that_works_without_scripts() {
    let site = Site::start().await;
    let keyboard = Keyboard(Browser::start().await);
    let is_shown = "return getComputedStyle(document.querySelector('.menu-button')).display !== 'none';";
    keyboard.0.goto(&site, "/causes").await;
    assert_eq!(keyboard.0.run(is_shown).await, false);
    keyboard.tab_to("#menu a[href='/fundraisers']").await;

    keyboard.0.resize(375).await;
    assert_eq!(keyboard.0.run(is_shown).await, true);
    let height = "return document.querySelector('.site-header').offsetHeight < 80;";
    assert_eq!(keyboard.0.run(height).await, true, "the header has one row");
    let is_open = "return document.querySelector('#menu').matches(':popover-open');";
    keyboard.0.goto(&site, "/causes").await;
    keyboard.tab_to(".menu-button").await;
    keyboard.0.key(Key::Enter).await;
    keyboard.0.wait_for(is_open, true).await;
    keyboard.0.key(Key::Escape).await;
    keyboard.0.wait_for(is_open, false).await;
    keyboard.0.key(Key::Enter).await;
    keyboard.0.wait_for(is_open, true).await;
    keyboard.tab_to("#menu a[href='/fundraisers']").await;
    keyboard.0.wait_for_page(keyboard.0.key(Key::Enter)).await;
    assert_eq!(keyboard.0.path().await, "/fundraisers");

    // The browser itself opens the menu.
    keyboard.0.disable_scripts().await;
    keyboard.0.goto(&site, "/").await;
    keyboard.0.click(".menu-button").await;
    keyboard.0.click("#menu a[href='/causes']").await;
    assert_eq!(keyboard.0.path().await, "/causes");
    keyboard.0.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_factor_is_set_up_and_used_with_the_keyboard_only() {
    let site = Site::start().await;
    let keyboard = Keyboard(Browser::start().await);
    keyboard.sign_up(&site).await;
    keyboard.enter(".part-nav a[href='/dashboard/settings']").await;
    keyboard
        .enter("main a[href='/dashboard/settings/two-factor']")
        .await;
    keyboard.submit("#current", PASSWORD).await;
    let account = store::find(&site.app.db, "grace").await.unwrap().unwrap().id;
    let secret = two_factor::find_pending(&site.app.db, &site.app.secret, account).await;
    let secret = secret.unwrap().unwrap();
    let code = |later| secret.code_at(site.app.clock.millis() + later);
    // The errors of a wrong code get the focus, so that a screen reader reads them.
    keyboard.submit("#code", "000").await;
    let focused = "return document.activeElement.id;";
    assert_eq!(keyboard.0.run(focused).await, "form-errors");
    keyboard.submit("#code", &code(0)).await;
    let script = "return document.querySelector('#codes code').textContent;";
    let recovery_code = keyboard.0.run(script).await;

    for is_recovery in [false, true] {
        keyboard.enter(".part-nav button").await;
        keyboard.tab_to("#username").await;
        keyboard.0.press("grace").await;
        keyboard.submit("#password", PASSWORD).await;
        assert_eq!(keyboard.0.path().await, "/dashboard/sign-in/code");
        // The code of the next half minute, because the current one is used.
        let next = code(30_000);
        let typed = if is_recovery {
            recovery_code.as_str().unwrap()
        } else {
            &next
        };
        keyboard.submit("#code", typed).await;
        assert!(keyboard.0.text(".alert-good").await.contains("signed in"));
    }
    keyboard.0.stop().await;
}
