//! The flat body of the partner format, which receivers written for the hosted service parse.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use giving::webhooks::events::content::{Content, Data};
use platform::clock::rfc3339;
use platform::money::Cents;
use platform::text::cut;
use serde_json::{Map, Value, json};

/// How much of the name of a nonprofit is in a body.
pub(super) const MAX_NAME_CHARS: usize = 120;

/// Writes the body. A test of an endpoint is a donation of nothing.
pub(super) fn body(content: &Content) -> Value {
    let Data::Donation(donation, _) = &content.data else {
        return json!({
            "chargeId": content.id,
            "partnerDonationId": "test",
            "partnerMetadata": {"test": true},
            "toNonprofit": {"slug": "test", "ein": "000000000", "name": "Test"},
            "amount": "0.00",
            "netAmount": "0.00",
            "currency": "USD",
            "frequency": "One-time",
            "donationDate": rfc3339(content.occurred_at),
            "paymentMethod": "test",
        });
    };
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            body.insert(name.to_owned(), value);
        }
    };
    set("chargeId", donation.id.to_string().into());
    let checkout = &donation.checkout;
    set("partnerDonationId", checkout.partner_donation_id.clone().into());
    set(
        "partnerMetadata",
        metadata_object(checkout.partner_metadata.as_deref()),
    );
    let name = checkout.donor.as_ref().and_then(|donor| donor.name.as_deref());
    if let Some(name) = name {
        let (first, last) = name.split_once(' ').unwrap_or((name, ""));
        set("firstName", first.into());
        set("lastName", last.into());
    }
    let email = checkout.donor.as_ref().and_then(|donor| donor.email.clone());
    set("email", email.into());
    if let Some((nonprofit, _)) = donation.nonprofits.first() {
        let name = cut(&nonprofit.name, MAX_NAME_CHARS);
        set(
            "toNonprofit",
            json!({"slug": nonprofit.slug, "ein": nonprofit.ein, "name": name}),
        );
    }
    set("amount", dollars(donation.amount).into());
    set(
        "netAmount",
        dollars(Cents::new(donation.amount.get() - donation.fee.get())).into(),
    );
    set("currency", "USD".into());
    set(
        "frequency",
        if donation.monthly_gift.is_some() {
            "Monthly"
        } else {
            "One-time"
        }
        .into(),
    );
    set("donationDate", rfc3339(donation.donated_at).into());
    if let Some(fundraiser) = &donation.fundraiser {
        set(
            "fromFundraiser",
            json!({"id": fundraiser.id.0, "title": fundraiser.title, "slug": fundraiser.slug}),
        );
    }
    set("designation", checkout.designation.clone().into());
    set(
        "paymentMethod",
        if donation.charge.is_some() {
            "card"
        } else {
            "other"
        }
        .into(),
    );
    Value::Object(body)
}

/// Receivers parse the metadata as an object. Links have it as JSON, as base64 of JSON, or as any text.
fn metadata_object(text: Option<&str>) -> Value {
    let Some(text) = text else {
        return json!({});
    };
    let decoded = BASE64_STANDARD.decode(text).ok();
    let parsed = serde_json::from_str(text).ok();
    let parsed = parsed.or_else(|| serde_json::from_slice(&decoded?).ok());
    match parsed {
        Some(Value::Object(object)) => Value::Object(object),
        _ => json!({"text": text}),
    }
}

/// Returns an amount as text in dollars, such as `25.50`.
fn dollars(amount: Cents) -> String {
    let cents = amount.get();
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_an_object_however_the_link_has_it() {
        let object = json!({"a": 1});
        assert_eq!(metadata_object(Some(r#"{"a":1}"#)), object);
        assert_eq!(metadata_object(Some("eyJhIjoxfQ==")), object);
        assert_eq!(metadata_object(Some("order 17")), json!({"text": "order 17"}));
        assert_eq!(metadata_object(Some("[1]")), json!({"text": "[1]"}));
        assert_eq!(metadata_object(None), json!({}));
        assert_eq!(dollars(Cents::new(2_505)), "25.05");
    }
}
