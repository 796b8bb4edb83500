//! How nonprofits are paid: the list of payees, and a form to add or change one.

use crate::app::App;
use crate::dashboard::operator::disburse::{methods, refusal};
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE};
use crate::dashboard::operator::names::name_of;
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::{Error, Result};
use crate::http::params::values;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::form::Choice;
use crate::web::form_page::FormPage;
use crate::web::pager::Pager;
use crate::web::texts::{DisburseTexts, fill};
use crate::web::{Field, Form, FormData, Layout, Page};
use access::audit::Actor;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use giving::checkout::receipt::format_date;
use giving::disbursement::DisburseError;
use giving::disbursement::payees::{Payee, PayeeField, PayeeInput, store};
use platform::email_address::EmailAddress;

/// Where the list is.
pub(super) const PATH: &str = "/dashboard/operator/payees";

#[derive(Template)]
#[template(path = "dashboard/operator/payees.html")]
struct PayeesPage {
    layout: Layout,
    rows: Vec<Row>,
    pager: Pager,
}

struct Row {
    payee: Payee,
    name: String,
    method: String,
    changed: String,
    held: Option<String>,
}

/// `GET /dashboard/operator/payees`
pub async fn list(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let layout = with_menu(&app, layout, &user).await?;
    let (t, now) = (&layout.t.disburse, app.clock.millis());
    let date = |at| format_date(at, &app.config.time_zone);
    let list_page = ListPage::parse(query.as_deref(), store::count(&app.db).await?);
    let mut rows = Vec::new();
    for payee in store::list(&app.db, PAGE_SIZE, list_page.skipped()).await? {
        let held = payee.held_until.filter(|until| *until > now);
        rows.push(Row {
            name: name_of(&app, payee.nonprofit).await?,
            method: match &payee.last_four {
                Some(last_four) => fill(t.to_account, &[("digits", last_four)]),
                None => t.check.to_owned(),
            },
            changed: date(payee.changed_at),
            held: held.map(|until| fill(t.held_until, &[("date", &date(until))])),
            payee,
        });
    }
    let page = PayeesPage {
        rows,
        pager: list_page.pager(&layout, PATH, &[]),
        layout,
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/payees/edit?nonprofit=…`: the form, with what is known.
pub async fn edit_page(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let layout = with_menu(&app, layout, &user).await?;
    let name = values(query.as_deref().unwrap_or_default(), "nonprofit").next();
    let name = name.unwrap_or_default().into_owned();
    let mut data = FormData::new(Vec::new());
    data.set("nonprofit", name.clone());
    let mut last_four = None;
    if let Ok((id, _)) = app.disbursements().resolve(&name).await
        && let Some(payee) = store::find(&app.db, id).await?
    {
        for (field, value) in [
            (PayeeField::Method, payee.method.as_str()),
            (PayeeField::Name, payee.name.as_str()),
            (PayeeField::Street, payee.address.street.as_str()),
            (PayeeField::City, payee.address.city.as_str()),
            (PayeeField::State, payee.address.state.as_str()),
            (PayeeField::Zip, payee.address.zip.as_str()),
            (
                PayeeField::Email,
                payee.email.as_ref().map_or("", EmailAddress::as_str),
            ),
        ] {
            data.set(field.name(), value.to_owned());
        }
        last_four = payee.last_four;
    }
    let form = form(&layout.t.disburse, last_four.as_deref()).with_values(&data);
    Ok(form_page(layout, form).into_response())
}

/// `POST /dashboard/operator/payees/edit`
pub async fn edit(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let layout = with_menu(&app, layout, &user).await?;
    let t = &layout.t.disburse;
    let disbursements = app.disbursements();
    // What was typed as a bank account is not shown again.
    let mut shown = data.clone();
    for field in [PayeeField::RoutingNumber, PayeeField::AccountNumber] {
        shown.set(field.name(), String::new());
    }
    let resolved = disbursements.resolve(data.trimmed("nonprofit")).await;
    let (id, name) = match resolved {
        Ok(found) => found,
        Err(error @ DisburseError::NoSuchNonprofit { .. }) => {
            let mut form = form(t, None).with_values(&shown);
            form.add_error("nonprofit", refusal(error)?);
            return Ok(form_page(layout, form).invalid());
        }
        Err(error) => return Err(Error::from(error)),
    };
    let kept = disbursements.find_bank(id).await?;
    let last_four = kept.as_ref().map(|bank| bank.last_four().to_owned());
    let parsed = PayeeInput::parse(id, &name, kept.as_ref(), |field| data.text(field.name()));
    let input = match parsed {
        Ok(input) => input,
        Err(error) => {
            let mut form = form(t, last_four.as_deref()).with_values(&shown);
            let problem = error.problem.replace("; ", ". ");
            form.add_error(error.field.name(), format!("{problem}."));
            return Ok(form_page(layout, form).invalid());
        }
    };
    let saved = disbursements
        .save_payees(vec![input], Actor::Account(user.account))
        .await?;
    let flash = if saved.changed > 0 {
        Flash::PayeeChanged
    } else {
        Flash::PayeeSaved
    };
    Ok(flash.redirect(&app.site.public_url, PATH))
}

fn form(t: &DisburseTexts, last_four: Option<&str>) -> Form {
    let account_hint = last_four.map_or_else(
        || t.account_hint.to_owned(),
        |digits| fill(t.account_kept, &[("digits", digits)]),
    );
    let kinds = vec![
        Choice::new("checking", t.checking, ""),
        Choice::new("savings", t.savings, ""),
    ];
    let fields = vec![
        Field::text("nonprofit", t.nonprofit).hint(t.nonprofit_hint),
        Field::choice(PayeeField::Method.name(), t.method, methods(t)).value("ach"),
        Field::text(PayeeField::Name.name(), t.payee_name)
            .hint(t.payee_name_hint)
            .optional(),
        Field::text(PayeeField::RoutingNumber.name(), t.routing_number)
            .autocomplete("off")
            .optional(),
        Field::text(PayeeField::AccountNumber.name(), t.account_number)
            .hint(account_hint)
            .autocomplete("off")
            .optional(),
        Field::choice(PayeeField::AccountType.name(), t.account_type, kinds).value("checking"),
        Field::text(PayeeField::Street.name(), t.street)
            .hint(t.street_hint)
            .optional(),
        Field::text(PayeeField::City.name(), t.city).optional(),
        Field::text(PayeeField::State.name(), t.state).optional(),
        Field::text(PayeeField::Zip.name(), t.zip).optional(),
        Field::email(PayeeField::Email.name(), t.email)
            .hint(t.email_hint)
            .optional(),
    ];
    Form::new(format!("{PATH}/edit"), t.save_payee, fields)
}

fn form_page(layout: Layout, form: Form) -> FormPage {
    let t = &layout.t.disburse;
    let (title, lead, back) = (t.payee_title, t.payee_about, t.payees);
    FormPage::new(layout, title, form).lead(lead).link(PATH, back)
}
