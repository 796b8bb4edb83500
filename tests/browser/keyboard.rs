//! The same without a mouse: Tab to move, Space to choose, Enter to send.

use crate::browser::Browser;
use crate::site::{PASSWORD, Site};
use crate::story::wait_until;
use std::time::Duration;
use thirtyfour::Key;

struct Keyboard(Browser);

impl Keyboard {
    /// Moves on until the focus is there, which must show itself.
    async fn to(&self, css: &str) {
        for _ in 0..60 {
            self.0.key(Key::Tab).await;
            let there = format!(
                "const at = document.activeElement; return at.matches({css:?}) ? getComputedStyle(at).outlineStyle : '';"
            );
            let outline = self.0.run(&there).await;
            if outline != "" {
                assert_ne!(outline, "none", "{css} does not show that it has the focus");
                return;
            }
        }
        panic!("{css} cannot be reached with the keyboard");
    }

    async fn enter(&self, css: &str) {
        self.to(css).await;
        self.0.key(Key::Enter).await;
    }

    async fn make_key(&self, name: &str, is_private: bool) -> String {
        self.enter(".part-nav a[href='/dashboard']").await;
        self.enter("main a[href='/dashboard/keys/new']").await;
        self.to("#name").await;
        self.0.press(name).await;
        self.to("input[type=radio]").await;
        if is_private {
            self.0.key(Key::Down).await;
        }
        self.enter("form.form button").await;
        self.0.text("#key").await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_developer_without_a_mouse_gets_as_far() {
    let site = Site::start().await;
    let keyboard = Keyboard(Browser::start().await);
    keyboard.0.goto(&site, "/dashboard/sign-up").await;
    keyboard.to(".skip").await;
    keyboard.to("#username").await;
    for text in ["grace", "grace@example.org", PASSWORD] {
        keyboard.0.press(text).await;
        keyboard.0.key(Key::Tab).await;
    }
    keyboard.0.key(Key::Enter).await;
    assert!(keyboard.0.text(".alert-good").await.contains("Welcome"));

    let public = keyboard.make_key("website", false).await;
    let private = keyboard.make_key("server", true).await;
    assert!(public.starts_with("cwpk_") && private.starts_with("cwsk_"));
    let search = |key: &str| format!("/v0.2/search/red%20cross?apiKey={key}");
    assert_eq!(keyboard.0.call(&search(&public)).await, 200);
    let own = "/v0.2/fundraisers";
    assert_eq!(keyboard.0.call_with(own, &public, &private).await, 200);

    keyboard.enter(".part-nav a[href='/dashboard/usage']").await;
    wait_until(&keyboard.0, "#served", "2").await;
    keyboard.enter("main ul a[href^='/dashboard/keys/']").await;
    keyboard.enter("a[href$='/roll']").await;
    keyboard.to("input[type=radio]").await;
    keyboard.enter("form.form button").await;
    let rolled = keyboard.0.text("#key").await;
    assert_eq!(keyboard.0.call(&search(&rolled)).await, 200);
    keyboard.enter(".actions a[href^='/dashboard/keys/']").await;
    keyboard.enter("a[href$='/revoke']").await;
    keyboard.enter("form.form button").await;
    assert!(keyboard.0.text(".alert-good").await.contains("revoked"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(keyboard.0.call(&search(&rolled)).await, 401);
    assert_eq!(keyboard.0.call_with(own, &rolled, &private).await, 401);
    keyboard.enter(".part-nav button").await;
    keyboard.0.find("input[type=password]").await;
    assert!(keyboard.0.text("h1").await.contains("Sign in"));
    keyboard.0.stop().await;
}
