//! The texts of all pages and emails: `en.rs` has those of the layout and the dashboard, `public.rs` those of the public
//! site, `fundraising.rs` those of fundraisers, `developers.rs` those around the documentation, `legal.rs` those of the legal
//! pages. Another language is a
//! `const DE: Texts = Texts { ... }`; the compiler reports the texts that it lacks.

mod developers;
mod en;
mod fundraising;
pub mod legal;
mod public;

pub use developers::*;
pub use en::*;
pub use fundraising::*;
pub use public::*;

/// Declares a struct for each section, a struct of all sections, and the constant with the English wording.
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
