//! Reads anything as a return, with all that is made of it: it must be read or refused, without a panic.

#![no_main]

use ingest::form990::reader::{Document, read_all};
use ingest::form990::{texts, website};
use libfuzzer_sys::fuzz_target;
use std::convert::Infallible;

fuzz_target!(|bytes: &[u8]| {
    let Ok(()) = read_all(bytes, |document| {
        if let Ok(Document::Return(filed)) = document {
            let _ = texts::description(&filed);
            let _ = texts::display_name(&filed);
            for program in &filed.programs {
                let _ = texts::program_text(&program.text, &filed);
            }
            let _ = filed.website.as_deref().map(website::website);
        }
        Ok::<(), Infallible>(())
    });
});
