//! Composes the text of an email from blocks, so that all emails look alike. The HTML version recognizes the same blocks.

use std::fmt::Write as _;

/// What separates the footer from the email, as in RFC 3676.
pub(super) const FOOTER: &str = "-- \n";

/// What marks a line that is quoted.
pub(super) const QUOTE: &str = ">";

/// The text of an email.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmailText(String);

impl EmailText {
    /// Starts a text with its first paragraph.
    pub fn new(paragraph: &str) -> EmailText {
        EmailText::default().paragraph(paragraph)
    }

    /// Adds a paragraph.
    #[must_use]
    pub fn paragraph(self, text: &str) -> EmailText {
        self.block(text)
    }

    /// Adds a list of facts, such as the amount and the date.
    #[must_use]
    pub fn facts(self, facts: &[(&str, String)]) -> EmailText {
        let mut lines = String::new();
        for (name, value) in facts {
            let value: String = value
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            let _ = writeln!(lines, "{name}: {value}");
        }
        self.block(&lines)
    }

    /// Adds what somebody else wrote, with a mark at every line, so that it cannot pass for our own words.
    #[must_use]
    pub fn quote(self, text: &str) -> EmailText {
        let lines = text
            .trim()
            .lines()
            .map(|line| format!("{QUOTE} {line}").trim_end().to_owned());
        self.block(&lines.collect::<Vec<_>>().join("\n"))
    }

    /// Adds a link to what the recipient may want to do next.
    #[must_use]
    pub fn link(self, label: &str, url: &str) -> EmailText {
        self.block(&format!("{label}: {url}"))
    }

    /// Adds the blocks of another text.
    #[must_use]
    pub fn append(self, other: &EmailText) -> EmailText {
        self.block(&other.0)
    }

    /// Ends the text with a footer, in smaller letters.
    #[must_use]
    pub fn footer(self, text: &str) -> EmailText {
        self.block(&format!("{FOOTER}{text}"))
    }

    pub fn into_string(self) -> String {
        self.0
    }

    fn block(mut self, text: &str) -> EmailText {
        let text = text.trim_end();
        if text.is_empty() {
            return self;
        }
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(text);
        self.0.push('\n');
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_separated_by_empty_lines() {
        let text = EmailText::new("Hello ada,")
            .append(&EmailText::new("Thank you.").facts(&[]))
            .facts(&[
                ("Amount", "$25.00".to_owned()),
                ("Title", "Two\nlines".to_owned()),
            ])
            .quote("Well done!\n\nAmount: 5\n")
            .link("See it", "https://example.org/a")
            .footer("Bye");
        assert_eq!(
            text.into_string(),
            "Hello ada,\n\nThank you.\n\nAmount: $25.00\nTitle: Two lines\n\n\
             > Well done!\n>\n> Amount: 5\n\nSee it: https://example.org/a\n\n-- \nBye\n"
        );
    }
}
