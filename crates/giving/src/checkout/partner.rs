//! The parameters of a partner's link: the partner's own ID of the donation, metadata that is returned to the partner, and
//! the URLs that the donor is redirected to afterwards.

use access::origins::{ReturnUrl, admit};
use platform::db::Db;
use platform::ids::AccountId;
use std::borrow::Cow;
use thiserror::Error;
use uuid::Uuid;

const MAX_ID_LENGTH: usize = 255;
const MAX_LENGTH: usize = 2_000;

/// The parameters as the link has them. URLs are checked when they are used, so removing an allowed origin takes effect
/// at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partner {
    pub donation_id: Option<String>,
    pub metadata: Option<String>,
    pub success_url: Option<String>,
    pub exit_url: Option<String>,
    /// The account whose link it is: the link has the token of one of its webhook endpoints.
    pub account: Option<AccountId>,
}

/// The URLs that a donor may be redirected to.
#[derive(Clone, Debug, Default)]
pub struct ReturnUrls {
    pub success: Option<ReturnUrl>,
    pub exit: Option<ReturnUrl>,
    /// A URL is invalid, or its origin is not registered or not proven.
    pub is_refused: bool,
}

/// A parameter is too long to be returned to the partner in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{name} has at most {max} characters; ask the site that sent you here to fix the link")]
pub struct TooLong {
    pub name: &'static str,
    pub max: usize,
}

impl Partner {
    /// Reads the parameters by their names. Fails if a value is too long.
    pub fn read<'a>(value: impl Fn(&'static str) -> Cow<'a, str>) -> Result<Partner, TooLong> {
        let text = |name: &'static str, max: usize| {
            let text: String = value(name).chars().filter(|c| !c.is_control()).collect();
            if text.chars().count() > max {
                return Err(TooLong { name, max });
            }
            Ok(Some(text).filter(|text| !text.is_empty()))
        };
        Ok(Partner {
            donation_id: text("partner_donation_id", MAX_ID_LENGTH)?,
            metadata: text("partner_metadata", MAX_LENGTH)?,
            success_url: text("success_url", MAX_LENGTH)?,
            exit_url: text("exit_url", MAX_LENGTH)?,
            account: None,
        })
    }

    /// Returns the URLs that the donor may be redirected to now. With `trusts_localhost`, a registered origin on the
    /// donor's own machine needs no proof.
    pub async fn return_urls(&self, db: &Db, trusts_localhost: bool) -> sqlx::Result<ReturnUrls> {
        let (success, exit) = (self.success_url.as_deref(), self.exit_url.as_deref());
        let urls = ReturnUrls {
            success: admit_if_present(db, success, trusts_localhost).await?,
            exit: admit_if_present(db, exit, trusts_localhost).await?,
            is_refused: false,
        };
        let is_refused = urls.success.is_some() != success.is_some() || urls.exit.is_some() != exit.is_some();
        Ok(ReturnUrls { is_refused, ..urls })
    }

    /// Adds what the partner needs to recognize the donation to one of its URLs.
    pub fn append_to(&self, url: &ReturnUrl, donation: Option<Uuid>) -> String {
        let donation = donation.map(|id| id.to_string());
        let parameters = [
            ("donation_id", &donation),
            ("partner_donation_id", &self.donation_id),
            ("partner_metadata", &self.metadata),
        ];
        url.with(&parameters.map(|(name, value)| (name, value.as_deref().unwrap_or_default())))
    }
}

async fn admit_if_present(
    db: &Db,
    url: Option<&str>,
    trusts_localhost: bool,
) -> sqlx::Result<Option<ReturnUrl>> {
    match url {
        Some(url) => admit(db, url, trusts_localhost).await,
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &'static str, text: &str) -> Result<Partner, TooLong> {
        Partner::read(|parameter| {
            Cow::Owned(if parameter == name {
                text.to_owned()
            } else {
                String::new()
            })
        })
    }

    #[test]
    fn parameters_are_stored_in_full_or_rejected() {
        let max = "é".repeat(MAX_LENGTH);
        assert_eq!(
            read("partner_metadata", &max).unwrap().metadata,
            Some(max.clone())
        );
        assert!(read("partner_metadata", &(max.clone() + "é")).is_err());
        assert!(read("success_url", &(max + "é")).is_err());
        assert!(read("partner_donation_id", &"x".repeat(MAX_ID_LENGTH + 1)).is_err());
        let id = read("partner_donation_id", " a\u{0}\nb ").unwrap().donation_id;
        assert_eq!(id.as_deref(), Some(" ab "));
        assert_eq!(read("x", "").unwrap(), Partner::default());
    }
}
