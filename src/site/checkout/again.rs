//! Starts a donation again that was not paid: the form is filled in with its values.
//!
//! The link names the earlier donation by the ID of its receipt, which only the donor knows, so the URL contains no values.

use super::target::Target;
use crate::app::App;
use crate::http::error::Result;
use crate::http::params::values;
use crate::web::FormData;
use giving::checkout::{Donation, State, store};
use platform::money::Cents;
use uuid::Uuid;

/// The parameter of the form with the ID.
pub(super) const PARAMETER: &str = "again";

/// Returns the query that fills in the form.
pub(super) fn query(earlier: &Donation) -> String {
    format!("{PARAMETER}={}", earlier.receipt_id)
}

/// Returns the donation that a query names, if it is for the same recipient and was not paid.
pub(super) async fn find(app: &App, target: &Target, query: &str) -> Result<Option<Donation>> {
    let id = values(query, PARAMETER).next();
    let Some(id) = id.and_then(|id| Uuid::try_parse(&id).ok()) else {
        return Ok(None);
    };
    let found = store::find_by_receipt(&app.db, id).await?;
    Ok(found.filter(|earlier| {
        let is_unpaid = !earlier.state.is_paid() && earlier.state != State::Processing;
        is_unpaid && earlier.nonprofit == target.nonprofit && earlier.fundraiser == target.fundraiser
    }))
}

/// Returns the values of the form that started a donation.
pub(super) fn form_values(earlier: &Donation) -> FormData {
    let yes = |is_true: bool| if is_true { "yes" } else { "no" }.to_owned();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let whole = earlier.amount.plus(earlier.covered.reversed());
    let mut fields = vec![
        ("amount", whole.unwrap_or(earlier.amount).to_input_value()),
        ("name", text(&earlier.name)),
        (
            "email",
            earlier
                .email
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        ),
        ("share_contact", yes(earlier.shares_contact)),
        ("cover", yes(earlier.covered > Cents::ZERO)),
        ("public", yes(earlier.is_public)),
        ("message", text(&earlier.message)),
    ];
    let frequency = if earlier.starts_monthly_gift() {
        "monthly"
    } else {
        "once"
    };
    fields.push(("frequency", frequency.to_owned()));
    if let Some(dedication) = &earlier.dedication {
        fields.push(("dedication", dedication.kind.as_str().to_owned()));
        fields.push(("dedicatee", dedication.name.clone()));
        if let Some(notice) = &dedication.notice {
            fields.push(("notice_email", notice.email.to_string()));
            fields.push(("notice_message", text(&notice.message)));
        }
    }
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    FormData::new(fields.collect())
}
