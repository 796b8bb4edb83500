//! The site and the dashboard in Chromium: with a mouse, with the keyboard only, on a phone, without scripts, and
//! checked by axe in light and dark mode.
#![allow(
    unreachable_pub,
    reason = "nothing outside can name what a test program contains"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests measure real time and are set up by the environment"
)]

mod account_security;
mod axe;
mod browser;
mod checkout;
mod claims;
mod combobox;
mod dashboard_pages;
mod developer_pages;
mod disbursement;
#[path = "../dns.rs"]
mod dns;
mod embeds;
mod fundraiser_form;
mod injection;
mod inspector;
mod key_management;
mod keyboard;
mod moderation;
mod monthly;
mod near_me;
mod organizer;
mod public_pages;
mod site;
mod stripe;
mod webhooks;
