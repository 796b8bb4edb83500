//! The site and the dashboard in a real Chromium: by mouse, by keyboard alone, on a phone, without scripts, judged by axe in light and dark.
#![expect(
    clippy::disallowed_methods,
    reason = "tests measure real time and are set up by the environment"
)]

mod axe;
mod browser;
mod combobox;
mod giving;
mod hurt;
mod keyboard;
mod pages;
mod public;
mod reader;
mod site;
mod story;
