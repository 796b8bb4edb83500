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

/// Puts values in the places of a text: `fill(t.keys.made, &[("name", name)])` replaces `{name}`.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|at| open + at) else {
            break;
        };
        filled.push_str(&rest[..open]);
        let name = &rest[open + 1..close];
        let value = values.iter().find(|(known, _)| *known == name);
        filled.push_str(value.map_or(&rest[open..=close], |(_, value)| value));
        rest = &rest[close + 1..];
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once_and_values_are_not_read_again() {
        assert_eq!(fill("{a} and {b}", &[("a", "{b}"), ("b", "x")]), "{b} and x");
        assert_eq!(fill("{c} {", &[("a", "x")]), "{c} {");
    }
}
