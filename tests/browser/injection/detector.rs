//! Inspects pages for scripts that ran, violations of the content security policy, and foreign elements.

use crate::browser::Browser;
use serde_json::{Value, json};
use std::cell::RefCell;

/// Runs before all scripts of every page.
const BEFORE: &str = "Object.defineProperty(window, 'findings', { value: [] });
    window.xss = () => window.findings.push('a script ran');
    for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) window[name] = () => window.findings.push(name + ' was called');
    addEventListener('securitypolicyviolation', (event) => window.findings.push(`the policy blocked ${event.violatedDirective} ${event.blockedURI} ${event.sample}`), true);";

/// Returns what ran or was blocked, and every element, attribute and URL that our templates do not contain.
const INSPECT: &str = "const found = [...window.findings];
    // The browser's view of XML has an inline style, which the policy blocks.
    if (document.contentType !== 'text/html') return found.filter((finding) => !finding.endsWith('style-src-elem inline '));
    const own = new Set('a article aside bdi body button caption circle code dd defs desc details div dl dt em fieldset figcaption figure footer form g h1 h2 h3 head header html img input label legend li line link main mark meta nav ol option p path pattern pre progress q rect script section select span strong summary svg table tbody td text textarea th thead time title tr ul'.split(' '));
    const urls = ['href', 'src', 'srcset', 'action', 'formaction', 'xlink:href', 'data', 'poster', 'background'];
    for (const element of document.querySelectorAll('*')) {
        const { localName, attributes } = element;
        const html = element.cloneNode(false).outerHTML.slice(0, 200);
        if (!own.has(localName)) found.push('a foreign element: ' + html);
        if (localName === 'script' && !element.src && element.type !== 'application/ld+json') found.push('an inline script: ' + html);
        if (element.type === 'application/ld+json') try { JSON.parse(element.textContent); } catch { found.push('structured data that is not JSON: ' + html); }
        for (const { name, value } of attributes) {
            if (name.startsWith('on') || ['style', 'http-equiv', 'srcdoc', 'autofocus'].includes(name)) found.push('a foreign attribute: ' + html);
            if (urls.includes(name) && !/^(\\/(?!\\/)|#|https?:\\/\\/|mailto:\\?)/.test(value)) found.push('a foreign URL: ' + html);
        }
    }
    return found;";

pub struct Detector {
    pub browser: Browser,
    findings: RefCell<Vec<String>>,
}

impl Detector {
    pub async fn new(browser: Browser) -> Detector {
        browser
            .emulate("Page.addScriptToEvaluateOnNewDocument", json!({"source": BEFORE}))
            .await;
        Detector {
            browser,
            findings: RefCell::default(),
        }
    }

    pub async fn visit(&self, site: &str, path: &str) {
        self.browser.driver.goto(format!("{site}{path}")).await.unwrap();
        self.inspect(path).await;
    }

    /// Inspects the current page.
    pub async fn inspect(&self, path: &str) {
        let found = self.browser.run(INSPECT).await;
        match found {
            Value::Array(found) => {
                let found = found.into_iter().map(|finding| format!("{path}: {finding}"));
                self.findings.borrow_mut().extend(found);
            }
            error => self.findings.borrow_mut().push(format!("{path}: {error}")),
        }
    }

    /// Asserts that the current page shows a payload as text.
    pub async fn assert_shows(&self, payload: &str) {
        let page = self.browser.driver.current_url().await.unwrap();
        assert!(self.shows(payload).await, "{page} does not show {payload}");
    }

    /// Whether the current page shows a payload as text. Whitespace, case and characters beyond ASCII may differ,
    /// because names are normalized.
    async fn shows(&self, payload: &str) -> bool {
        let script = "const plain = (text) => text.toLowerCase().replace(/[^!-~]/g, '');
            const typed = [...document.querySelectorAll('input')].map(({ value }) => value);
            return plain([document.documentElement.textContent, ...typed].join(' ')).includes(plain(arguments[0][0]));";
        let shown = self.browser.driver.execute(script, vec![json!([payload])]).await;
        shown.unwrap().json() == true
    }

    /// Asserts that the pages of a list show all payloads. `next` selects the link to the next page.
    pub async fn assert_pages_show(&self, site: &str, list: &str, next: &str, payloads: &[String]) {
        let mut missing = payloads.to_vec();
        let mut page = Some(list.to_owned());
        while let Some(path) = page {
            self.visit(site, &path).await;
            for payload in std::mem::take(&mut missing) {
                if !self.shows(&payload).await {
                    missing.push(payload);
                }
            }
            let script = format!("return document.querySelector(\"{next}\")?.getAttribute('href');");
            page = self.browser.run(&script).await.as_str().map(str::to_owned);
        }
        assert!(missing.is_empty(), "{list}: {missing:#?}");
    }

    /// Types into the search field of the home page and inspects the results.
    pub async fn type_and_inspect(&self, site: &str, text: &str) {
        self.visit(site, "/").await;
        self.browser.fill("#q", text).await;
        let count = "return document.querySelectorAll('[role=option]').length;";
        self.browser.wait_for(count, 8).await;
        self.inspect("typing").await;
    }

    /// The findings since the last call. Also clears the console of the browser.
    pub async fn take(&self) -> Vec<String> {
        self.browser.console().await;
        self.findings.take()
    }

    /// Fails if anything was found.
    pub async fn stop(self) {
        let console = self.browser.console().await;
        self.browser.stop().await;
        let findings = self.findings.take();
        assert!(findings.is_empty(), "{}", findings.join("\n"));
        let blocked: Vec<_> = console
            .iter()
            .filter(|message| {
                message.contains("Content Security Policy") && !message.contains("Applying inline style")
            })
            .collect();
        assert!(blocked.is_empty(), "{blocked:#?}");
    }
}
