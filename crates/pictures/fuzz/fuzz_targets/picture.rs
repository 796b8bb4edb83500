#![no_main]

#[path = "../../tests/pictures/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::picture(bytes));
