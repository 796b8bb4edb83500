//! Every text of the site. A language is one file here: `en.rs` declares the texts by their names, and another
//! language is a `const DE: Texts = Texts { ... }` of which the compiler says what is missing. The texts of the public
//! site stand in `public.rs` in the same way.

mod en;
mod public;

pub use en::*;
pub use public::*;

/// Declares the sections, the texts in them, and their wording.
macro_rules! texts {
    ($all:ident, $english:ident; $($section:ident: $type:ident { $($name:ident: $text:literal,)* })*) => {
        $(
            #[derive(Debug)]
            pub struct $type {
                $(pub $name: &'static str,)*
            }
        )*

        /// The texts of one language, by section.
        #[derive(Debug)]
        pub struct $all {
            $(pub $section: $type,)*
        }

        /// English.
        pub const $english: $all = $all {
            $($section: $type { $($name: $text,)* },)*
        };
    };
}

use texts;

pub use platform::text::fill;
