//! The dashboard in a real Chromium: by mouse, by keyboard alone, judged by axe in light and dark.

mod axe;
mod browser;
mod keyboard;
mod pages;
mod site;
mod story;
