//! The contact for reports of security vulnerabilities.

use serde::Deserialize;

/// The URL for vulnerability reports; empty if the operator set none.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct SecurityContact(String);

impl SecurityContact {
    /// Returns the contact, if there is one.
    pub fn url(&self) -> Option<&str> {
        Some(self.0.as_str()).filter(|url| !url.is_empty())
    }
}

impl TryFrom<String> for SecurityContact {
    type Error = String;

    fn try_from(text: String) -> Result<SecurityContact, String> {
        let contact = text.trim();
        let is_url = ["mailto:", "https://", "tel:"]
            .iter()
            .any(|scheme| contact.starts_with(scheme));
        if contact.is_empty() || (is_url && !contact.contains(char::is_whitespace)) {
            Ok(SecurityContact(contact.to_owned()))
        } else {
            Err(format!(
                "security_contact is {contact:?}; set it to a URL such as mailto:security@example.org"
            ))
        }
    }
}
