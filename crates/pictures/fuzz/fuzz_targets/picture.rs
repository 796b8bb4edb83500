//! Cleans arbitrary bytes.
#![no_main]

#[path = "../../tests/pictures/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::check_any_bytes(bytes));
