//! Looks at pages for anything that ran, was stopped by the policy, or is no element of ours.

use crate::browser::Browser;
use serde_json::{Value, json};
use std::cell::RefCell;

/// Runs before all scripts of every page.
const BEFORE: &str = "Object.defineProperty(window, 'faults', { value: [] });
    window.hurt = () => window.faults.push('a script ran');
    for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) window[name] = () => window.faults.push(name + ' was called');
    addEventListener('securitypolicyviolation', (event) => window.faults.push(`the policy stopped ${event.violatedDirective} ${event.blockedURI} ${event.sample}`), true);";

/// What ran or was stopped, and every element, attribute and address that our templates do not write.
const LOOK: &str = "const found = [...window.faults];
    // The browser's own view of XML has a style of its own, which the policy stops.
    if (document.contentType !== 'text/html') return found.filter((told) => !told.endsWith('style-src-elem inline '));
    const ours = new Set('a article aside bdi body button caption circle code dd defs details div dl dt fieldset figcaption figure footer form g h1 h2 h3 head header html img input label legend li line link main mark meta nav ol option p path pattern pre progress q rect script section select span strong summary svg table tbody td text textarea th thead time title tr ul'.split(' '));
    const addresses = ['href', 'src', 'srcset', 'action', 'formaction', 'xlink:href', 'data', 'poster', 'background'];
    for (const element of document.querySelectorAll('*')) {
        const { localName, attributes } = element;
        const told = element.cloneNode(false).outerHTML.slice(0, 200);
        if (!ours.has(localName)) found.push('a foreign element: ' + told);
        if (localName === 'script' && !element.src && element.type !== 'application/ld+json') found.push('a script: ' + told);
        if (element.type === 'application/ld+json') try { JSON.parse(element.textContent); } catch { found.push('facts that are no JSON: ' + told); }
        for (const { name, value } of attributes) {
            if (name.startsWith('on') || ['style', 'http-equiv', 'srcdoc', 'autofocus'].includes(name)) found.push('a foreign attribute: ' + told);
            if (addresses.includes(name) && !/^(\\/(?!\\/)|#|https?:\\/\\/|mailto:\\?)/.test(value)) found.push('a foreign address: ' + told);
        }
    }
    return found;";

pub struct Detector {
    pub browser: Browser,
    faults: RefCell<Vec<String>>,
}

impl Detector {
    pub async fn new(browser: Browser) -> Detector {
        browser
            .emulate("Page.addScriptToEvaluateOnNewDocument", json!({"source": BEFORE}))
            .await;
        Detector {
            browser,
            faults: RefCell::default(),
        }
    }

    pub async fn visit(&self, site: &str, path: &str) {
        self.browser.driver.goto(format!("{site}{path}")).await.unwrap();
        self.look(path).await;
    }

    /// Looks at the page that is open.
    pub async fn look(&self, path: &str) {
        let found = self.browser.run(LOOK).await;
        match found {
            Value::Array(found) => {
                let found = found.into_iter().map(|fault| format!("{path}: {fault}"));
                self.faults.borrow_mut().extend(found);
            }
            fault => self.faults.borrow_mut().push(format!("{path}: {fault}")),
        }
    }

    /// The page that is open shows this as text.
    pub async fn shows(&self, payload: &str) {
        let page = self.browser.driver.current_url().await.unwrap();
        assert!(self.has(payload).await, "{page} does not show {payload}");
    }

    /// Does the page that is open show this as text? Blanks, case and marks beyond ASCII may differ: names are made
    /// readable.
    pub async fn has(&self, payload: &str) -> bool {
        let script = "const plain = (text) => text.toLowerCase().replace(/[^!-~]/g, '');
            const typed = [...document.querySelectorAll('input')].map(({ value }) => value);
            return plain([document.documentElement.textContent, ...typed].join(' ')).includes(plain(arguments[0][0]));";
        let shown = self.browser.driver.execute(script, vec![json!([payload])]).await;
        shown.unwrap().json() == true
    }

    /// The pages of a list, of which each but the last has a link to the `next`, show all of these as text.
    pub async fn turns_to_all(&self, site: &str, list: &str, next: &str, payloads: &[String]) {
        let mut unseen = payloads.to_vec();
        let mut page = Some(list.to_owned());
        while let Some(path) = page {
            self.visit(site, &path).await;
            for payload in std::mem::take(&mut unseen) {
                if !self.has(&payload).await {
                    unseen.push(payload);
                }
            }
            let script = format!("return document.querySelector(\"{next}\")?.getAttribute('href');");
            page = self.browser.run(&script).await.as_str().map(str::to_owned);
        }
        assert!(unseen.is_empty(), "{list}: {unseen:#?}");
    }

    /// Types on the home page and looks at the answers.
    pub async fn types(&self, site: &str, text: &str) {
        self.visit(site, "/").await;
        self.browser.fill("#q", text).await;
        let count = "return document.querySelectorAll('[role=option]').length;";
        self.browser.wait_for(count, 8).await;
        self.look("typing").await;
    }

    /// What was found since this was asked last; the log of the browser begins anew as well.
    pub async fn take(&self) -> Vec<String> {
        self.browser.complaints().await;
        self.faults.take()
    }

    /// Fails where anything was found.
    pub async fn stop(self) {
        let complaints = self.browser.complaints().await;
        self.browser.stop().await;
        let faults = self.faults.take();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        let stopped: Vec<_> = complaints
            .iter()
            .filter(|told| {
                told.contains("Content Security Policy") && !told.contains("Applying inline style")
            })
            .collect();
        assert!(stopped.is_empty(), "{stopped:#?}");
    }
}
