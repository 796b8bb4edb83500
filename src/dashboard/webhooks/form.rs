//! The forms that create and change an endpoint.

use super::pages::{PATH, find_own, path_of, to_error};
use crate::app::App;
use crate::dashboard::standing::refuse_to_create;
use crate::http::error::Result;
use crate::http::params::PathText;
use crate::web::flash::Flash;
use crate::web::form::Choice;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::{Field, Form, FormData, Layout, Page};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::webhooks::endpoints::input::{EndpointChange, EndpointField, EndpointInput, InvalidField};
use giving::webhooks::endpoints::{Endpoint, EndpointError, Owner, WithSecret};
use giving::webhooks::{EventKind, Format};

#[derive(Template)]
#[template(path = "dashboard/webhooks/secret.html")]
struct SecretPage {
    layout: Layout,
    title: &'static str,
    lead: &'static str,
    endpoint: Endpoint,
    secret: String,
}

/// Shows the secret of an endpoint. Only the response to the form that made it ever contains it.
pub(super) fn show_secret(layout: Layout, is_new: bool, shown: WithSecret) -> Response {
    let t = &layout.t.webhooks;
    let (title, lead) = if is_new {
        (t.created_title, t.created_lead)
    } else {
        (t.rotated_title, t.rotated_lead)
    };
    Page(SecretPage {
        layout,
        title,
        lead,
        endpoint: shown.endpoint,
        secret: shown.secret,
    })
    .into_response()
}

/// `GET /dashboard/webhooks/new`
pub async fn new_page(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<Response> {
    if let Some(refusal) = refuse_to_create(&app, &user, &layout, Tab::Webhooks).await? {
        return Ok(refusal);
    }
    let form = new_form(&layout);
    Ok(new_with(&user, layout, form).into_response())
}

/// `POST /dashboard/webhooks/new`
pub async fn create(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    if let Some(refusal) = refuse_to_create(&app, &user, &layout, Tab::Webhooks).await? {
        return Ok(refusal);
    }
    let bearer = data.trimmed("bearer");
    let format = data.text("format");
    let input = EndpointInput {
        url: data.trimmed("url").to_owned(),
        events: chosen_events(&data, format),
        description: data.text("description").to_owned(),
        format: Some(format.to_owned()),
        bearer: (!bearer.is_empty()).then(|| bearer.to_owned()),
    };
    let created = app
        .giving
        .webhooks
        .create(Owner::of_account(user.account), input)
        .await;
    match created {
        Ok(shown) => Ok(show_secret(layout.with_menu(&user, Tab::Webhooks), true, shown)),
        Err(EndpointError::Invalid(errors)) => {
            let mut form = new_form(&layout).with_values(&data);
            add_errors(&mut form, &errors);
            Ok(new_with(&user, layout, form).invalid())
        }
        Err(error) => Err(to_error(error)),
    }
}

/// `GET /dashboard/webhooks/{id}/edit`
pub async fn edit_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<FormPage> {
    let endpoint = find_own(&app, &user, &id).await?;
    let form = edit_form(&layout, &endpoint);
    Ok(edit_with(&user, layout, &endpoint, form))
}

/// `POST /dashboard/webhooks/{id}/edit`
pub async fn edit(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let endpoint = find_own(&app, &user, &id).await?;
    let bearer = data.trimmed("bearer");
    let change = EndpointChange {
        url: Some(data.trimmed("url").to_owned()),
        events: chosen_events(&data, endpoint.format.name()),
        description: Some(data.text("description").to_owned()),
        format: None,
        // An empty field keeps the token, which is never shown.
        bearer: (!bearer.is_empty()).then(|| Some(bearer.to_owned())),
    };
    let owner = Owner::of_account(user.account);
    match app.giving.webhooks.change(owner, endpoint.id, change).await {
        Ok(_) => Ok(Flash::WebhookChanged.redirect(&app.site.public_url, &path_of(endpoint.id))),
        Err(EndpointError::Invalid(errors)) => {
            let mut form = edit_form(&layout, &endpoint).with_values(&data);
            add_errors(&mut form, &errors);
            Ok(edit_with(&user, layout, &endpoint, form).invalid())
        }
        Err(error) => Err(to_error(error)),
    }
}

/// Returns the events whose boxes are checked. The partner format has one alone.
fn chosen_events(data: &FormData, format: &str) -> Option<Vec<String>> {
    if format == Format::Partner.name() {
        return None;
    }
    let names = EventKind::ALL.map(EventKind::name).into_iter();
    Some(
        names
            .filter(|name| data.find(name).is_some())
            .map(str::to_owned)
            .collect(),
    )
}

fn add_errors(form: &mut Form, errors: &[InvalidField]) {
    for error in errors {
        let name = match error.field {
            EndpointField::Url => "url",
            EndpointField::Events => "events",
            EndpointField::Description => "description",
            EndpointField::Format => "format",
            EndpointField::Bearer => "bearer",
            EndpointField::Status | EndpointField::Since => "",
        };
        form.add_error(name, error.detail.clone());
    }
}

fn events_field(layout: &Layout, checked: &[EventKind]) -> Field {
    let t = &layout.t.webhooks;
    let choices = EventKind::ALL.map(|kind| Choice::new(kind.name(), kind.name(), event_hint(layout, kind)));
    let checked: Vec<&str> = checked.iter().map(|kind| kind.name()).collect();
    Field::checks("events", t.events, choices.into()).value(checked.join(" "))
}

fn event_hint(layout: &Layout, kind: EventKind) -> &'static str {
    let t = &layout.t.webhook_events;
    match kind {
        EventKind::DonationSucceeded => t.donation_succeeded,
        EventKind::DonationRefunded => t.donation_refunded,
        EventKind::DonationDisputed => t.donation_disputed,
        EventKind::DonationDisputeClosed => t.donation_dispute_closed,
        EventKind::MonthlyGiftStarted => t.monthly_gift_started,
        EventKind::MonthlyGiftChanged => t.monthly_gift_changed,
        EventKind::MonthlyGiftPaymentFailed => t.monthly_gift_payment_failed,
        EventKind::MonthlyGiftCanceled => t.monthly_gift_canceled,
        EventKind::DisbursementSent => t.disbursement_sent,
        EventKind::DisbursementReturned => t.disbursement_returned,
        EventKind::FundraiserCreated => t.fundraiser_created,
        EventKind::FundraiserUpdated => t.fundraiser_updated,
        EventKind::FundraiserClosed => t.fundraiser_closed,
        EventKind::FundraiserReopened => t.fundraiser_reopened,
        EventKind::FundraiserHidden => t.fundraiser_hidden,
        EventKind::FundraiserShown => t.fundraiser_shown,
        EventKind::FundraiserGoalReached => t.goal_reached,
        EventKind::NonprofitUpdated => t.nonprofit_updated,
        EventKind::DirectoryUpdated => t.directory_updated,
        EventKind::Ping => t.ping,
    }
}

fn url_fields(layout: &Layout) -> [Field; 2] {
    let t = &layout.t.webhooks;
    [
        Field::text("url", t.url).hint(t.url_hint),
        Field::text("description", t.description)
            .hint(t.description_hint)
            .optional(),
    ]
}

fn new_form(layout: &Layout) -> Form {
    let t = &layout.t.webhooks;
    let [url, description] = url_fields(layout);
    let formats = vec![
        Choice::new(Format::Standard.name(), t.standard, t.standard_hint),
        Choice::new(Format::Partner.name(), t.partner, t.partner_hint),
    ];
    let fields = vec![
        url,
        description,
        events_field(layout, &EventKind::ALL),
        Field::choice("format", t.format, formats),
        Field::password("bearer", t.bearer, "off")
            .hint(t.bearer_hint)
            .optional(),
    ];
    Form::new(format!("{PATH}/new"), t.add, fields)
}

fn edit_form(layout: &Layout, endpoint: &Endpoint) -> Form {
    let t = &layout.t.webhooks;
    let [url, description] = url_fields(layout);
    let mut fields = vec![url.value(&endpoint.url), description.value(&endpoint.description)];
    match endpoint.format {
        Format::Standard => fields.push(events_field(layout, &endpoint.events)),
        Format::Partner => {
            let bearer = Field::password("bearer", t.bearer, "off");
            fields.push(bearer.hint(t.bearer_keep).optional());
        }
    }
    Form::new(format!("{}/edit", path_of(endpoint.id)), t.save, fields)
}

fn new_with(user: &SignedIn, layout: Layout, form: Form) -> FormPage {
    let t = &layout.t.webhooks;
    FormPage::new(layout.with_menu(user, Tab::Webhooks), t.add_title, form)
        .lead(t.add_lead)
        .link("/developers/webhooks", t.docs)
        .link(PATH, t.back)
}

fn edit_with(user: &SignedIn, layout: Layout, endpoint: &Endpoint, form: Form) -> FormPage {
    let t = &layout.t.webhooks;
    let page = FormPage::new(layout.with_menu(user, Tab::Webhooks), t.edit_title, form);
    page.link(path_of(endpoint.id), t.cancel)
}
