//! What donors are told before they pay: who charges them, where the money goes and how long that takes, why it may not
//! arrive, who takes which fee, and whether the donation is deductible.

use super::target::Target;
use crate::app::App;
use crate::http::error::Result;
use crate::site::own_site::Website;
use crate::web::texts::fill;
use crate::web::{Layout, Section};
use directory::nonprofits::store::find_donate_url;
use giving::books::FeesPaidBy;
use giving::providers::Provider;
use giving::providers::link::own_donate_url;
use platform::ids::NonprofitId;

/// Returns the sentences of a donation form. A test charges nothing, and the form says so elsewhere.
pub(super) async fn notes(app: &App, target: &Target) -> Result<Vec<String>> {
    let t = &Layout::new(Section::Other).p.give;
    let taxes = if target.is_deductible {
        t.deductible
    } else {
        t.not_deductible
    };
    if let Some(host) = payment_host(app, target.nonprofit).await? {
        let elsewhere = fill(t.charged_elsewhere, &[("host", &host)]);
        return Ok(vec![elsewhere, taxes.to_owned()]);
    }
    if app.payment_page().is_none() {
        return Ok(Vec::new());
    }
    let fee = app.config.fee.to_string();
    let name = target.name.as_str();
    if target.account.is_some() {
        let values = [("name", name), ("fee", &fee)];
        return Ok(vec![
            fill(t.charged_by_nonprofit, &values),
            fill(t.fee_taken, &values),
            taxes.to_owned(),
        ]);
    }
    let Some(recipient) = &app.config.recipient else {
        return Ok(Vec::new());
    };
    let days = app.config.disburse.max_days.to_string();
    let values = [
        ("recipient", recipient.legal_name.as_str()),
        ("name", name),
        ("fee", &fee),
        ("days", &days),
    ];
    let (note, fees) = match app.config.fees_paid_by {
        FeesPaidBy::Nonprofit => (t.recipient_note, t.fee_taken),
        FeesPaidBy::Operator => (t.recipient_note_whole, t.fee_paid),
    };
    // Donations are made to the recipient, which is a charity.
    Ok(
        [t.charged_by_recipient, note, fees, t.may_not_arrive, t.deductible]
            .map(|text| fill(text, &values))
            .to_vec(),
    )
}

/// Returns the site on which a donation is paid, if donors pay elsewhere. The nonprofit's own takes precedence over that of the
/// operator.
async fn payment_host(app: &App, nonprofit: NonprofitId) -> Result<Option<String>> {
    let Provider::Link(template) = &app.config.giving else {
        return Ok(None);
    };
    let own = find_donate_url(&app.db, nonprofit).await?;
    let url = own_donate_url(own.as_deref().unwrap_or(template), "", "");
    Ok(Website::new(&url).map(|site| site.host))
}
