//! Payment by a link: the donor pays on a page of the operator or of the nonprofit.
//!
//! The URL of the page is a template in which `{ein}`, `{slug}`, `{amount}` and `{donation}` are filled in.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::money::Cents;
use uuid::Uuid;

/// The values that are filled in.
#[derive(Clone, Copy, Debug)]
pub struct Payment<'a> {
    /// The ID of the donation.
    pub donation: Uuid,
    pub amount: Cents,
    pub ein: &'a str,
    pub slug: &'a str,
}

impl Payment<'_> {
    pub(super) fn fill_in(&self, template: &str) -> String {
        let amount = self.amount.to_input_value();
        fill_in(template, self.ein, self.slug, &amount, &self.donation.to_string())
    }
}

/// Returns the URL of the nonprofit's own donation page, without an amount.
pub fn own_donate_url(template: &str, ein: &str, slug: &str) -> String {
    fill_in(template, ein, slug, "", "")
}

fn fill_in(template: &str, ein: &str, slug: &str, amount: &str, donation: &str) -> String {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    template
        .replace("{ein}", &encode(ein))
        .replace("{slug}", &encode(slug))
        .replace("{amount}", &encode(amount))
        .replace("{donation}", donation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_nonprofit_is_filled_in_without_an_amount() {
        let url = own_donate_url(
            "https://x.example/{slug}?e={ein}&a={amount}&g={donation}",
            "530196605",
            "red-cross",
        );
        assert_eq!(url, "https://x.example/red%2Dcross?e=530196605&a=&g=");
    }
}
