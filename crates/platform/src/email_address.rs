//! Email addresses as people enter them.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The maximum length of an address that fits into an SMTP command (RFC 5321).
const MAX_LENGTH: usize = 254;
const MAX_LOCAL_LENGTH: usize = 64;
/// What a local part may contain apart from letters, digits and dots (`atext` of RFC 5322).
const LOCAL_SYMBOLS: &[u8] = b"!#$%&'*+-/=?^_`{|}~";

/// An email address that can receive mail: `local@domain`, with the domain in ASCII and lowercase.
///
/// Quoted local parts, local parts outside ASCII and IP addresses as domains are rejected: hardly anyone has such an
/// address, and many mail servers refuse them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailAddress {
    text: String,
    /// The length of the local part.
    at: usize,
}

/// The error of an invalid email address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("enter an email address such as ada@example.org")]
pub struct InvalidEmailAddress;

impl EmailAddress {
    /// Parses an address. Whitespace around it is ignored.
    pub fn parse(text: &str) -> Result<EmailAddress, InvalidEmailAddress> {
        let (local, domain) = text.trim().rsplit_once('@').ok_or(InvalidEmailAddress)?;
        let domain = domain_to_ascii(domain).ok_or(InvalidEmailAddress)?;
        let is_valid =
            is_local_part(local) && is_mail_domain(&domain) && local.len() + 1 + domain.len() <= MAX_LENGTH;
        if !is_valid {
            return Err(InvalidEmailAddress);
        }
        Ok(EmailAddress {
            text: format!("{local}@{domain}"),
            at: local.len(),
        })
    }

    /// Returns the address to send to. The case of the local part is that of the input.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the address in lowercase. Addresses that differ only in case are the same person.
    pub fn normalized(&self) -> String {
        self.text.to_ascii_lowercase()
    }

    /// Returns the normalized address without a tag: mail for `ada+news@example.org` arrives at `ada@example.org`.
    pub fn mailbox(&self) -> String {
        let (local, domain) = self.text.split_at(self.at);
        let untagged = match local.split_once('+') {
            Some((untagged, _)) if !untagged.is_empty() => untagged,
            _ => local,
        };
        format!("{untagged}{domain}").to_ascii_lowercase()
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for EmailAddress {
    type Err = InvalidEmailAddress;

    fn from_str(text: &str) -> Result<EmailAddress, InvalidEmailAddress> {
        EmailAddress::parse(text)
    }
}

/// Converts a domain to ASCII and lowercase, as it is looked up. Returns nothing if it is not a domain.
pub fn domain_to_ascii(domain: &str) -> Option<String> {
    idna::domain_to_ascii_strict(domain).ok()
}

fn is_local_part(local: &str) -> bool {
    let is_word = |word: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || LOCAL_SYMBOLS.contains(&byte);
        !word.is_empty() && word.bytes().all(is_allowed)
    };
    local.len() <= MAX_LOCAL_LENGTH && local.split('.').all(is_word)
}

/// Returns whether a domain in ASCII has at least two labels and is not an IP address.
fn is_mail_domain(domain: &str) -> bool {
    let last = domain.rsplit_once('.').map(|(_, last)| last);
    last.is_some_and(|last| !last.is_empty() && !last.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_addresses_are_accepted() {
        for (text, address) in [
            ("ada@example.org", "ada@example.org"),
            (" Ada.L+news@Example.ORG ", "Ada.L+news@example.org"),
            ("o'hara_1@mail.example.co.uk", "o'hara_1@mail.example.co.uk"),
            ("ada@münchen.example", "ada@xn--mnchen-3ya.example"),
            ("ada@xn--mnchen-3ya.example", "ada@xn--mnchen-3ya.example"),
        ] {
            assert_eq!(EmailAddress::parse(text).unwrap().as_str(), address);
        }
    }

    #[test]
    fn anything_else_is_rejected() {
        let long_local = format!("{}@example.org", "x".repeat(65));
        let long = format!("ada@{}org", "label-of-thirty-characters-xx.".repeat(9));
        for text in [
            "",
            "ada",
            "ada@",
            "@example.org",
            "ada@b c",
            "a da@example.org",
            "ada@@example.org",
            "ada@example.org@example.com",
            "ada@example",
            "ada@.org",
            "ada@example..org",
            "ada@example.org.",
            "ada@-example.org",
            "ada@exam_ple.org",
            ".ada@example.org",
            "ada.@example.org",
            "a..da@example.org",
            "\"ada l\"@example.org",
            "ada@[127.0.0.1]",
            "ada@127.0.0.1",
            "ada\0@example.org",
            "ada@example.org\r\nBcc: eve@example.org",
            "ada@exam\u{202e}ple.org",
            "Ada <ada@example.org>",
            "ada,eve@example.org",
            "ädä@example.org",
            &long_local,
            &long,
        ] {
            assert_eq!(EmailAddress::parse(text), Err(InvalidEmailAddress), "{text:?}");
        }
    }

    #[test]
    fn case_and_tags_do_not_make_another_mailbox() {
        let address = EmailAddress::parse("Ada+News@Example.org").unwrap();
        assert_eq!(address.normalized(), "ada+news@example.org");
        assert_eq!(address.mailbox(), "ada@example.org");
        let plus = EmailAddress::parse("+1@example.org").unwrap();
        assert_eq!(plus.mailbox(), "+1@example.org");
    }

    proptest! {
        #[test]
        fn the_mailer_accepts_every_valid_address(local in "[a-z0-9.+_'!-]{1,12}", domain in "[a-zé0-9.-]{1,12}") {
            if let Ok(address) = EmailAddress::parse(&format!("{local}@{domain}")) {
                prop_assert!(address.as_str().parse::<lettre::Address>().is_ok(), "{address}");
                prop_assert_eq!(EmailAddress::parse(address.as_str()), Ok(address.clone()));
            }
        }
    }
}
