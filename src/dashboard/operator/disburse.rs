//! The disbursement page: what is owed to each nonprofit and why it is held, the batches, and reassignments.

use crate::app::App;
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::Result;
use crate::http::params::values;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::form::Choice;
use crate::web::form_page::FormPage;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{DisburseTexts, fill};
use crate::web::{Field, Form, FormData, Layout, Page};
use access::accounts::store::summaries;
use access::audit::Actor;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use giving::checkout::receipt::format_date;
use giving::disbursement::DisburseError;
use giving::disbursement::batches::{Batch, BatchState, store};
use giving::disbursement::holds::{Hold, OwedStanding};
use platform::money::Cents;
use uuid::Uuid;

/// Where this page is.
pub(super) const PATH: &str = "/dashboard/operator/disburse";
/// Batches that are listed.
const MAX_BATCHES: i64 = 50;

#[derive(Template)]
#[template(path = "dashboard/operator/disburse.html")]
struct DisbursePage {
    layout: Layout,
    is_test: bool,
    /// Why a step was refused.
    refusal: Option<String>,
    standings: Vec<StandingView>,
    owed: Cents,
    payable: Cents,
    batches: Vec<BatchView>,
    /// Whether nobody else could approve a batch.
    is_alone: bool,
    rules: String,
}

struct StandingView {
    standing: OwedStanding,
    holds: Vec<String>,
    oldest: Option<String>,
    is_overdue: bool,
}

/// A batch in a list.
pub(super) struct BatchView {
    pub batch: Batch,
    pub state: &'static str,
    pub prepared: RelativeTime,
}

/// `GET /dashboard/operator/disburse`
pub async fn overview(State(app): State<App>, Operator(user): Operator, layout: Layout) -> Result<Response> {
    show(&app, &user, layout, None).await
}

/// `POST /dashboard/operator/disburse/prepare`
pub async fn prepare(State(app): State<App>, Operator(user): Operator, layout: Layout) -> Result<Response> {
    match app
        .disbursements()
        .prepare(None, Actor::Account(user.account))
        .await
    {
        Ok(batch) => {
            let path = batch_path(batch.number);
            Ok(Flash::BatchPrepared.redirect(&app.site.public_url, &path))
        }
        Err(error) => show(&app, &user, layout, Some(refusal(error)?)).await,
    }
}

/// `GET /dashboard/operator/disburse/reassign`: the form.
pub async fn reassign_page(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let layout = with_menu(&app, layout, &user).await?;
    let from = values(query.as_deref().unwrap_or_default(), "from").next();
    let mut data = FormData::new(Vec::new());
    data.set("from", from.unwrap_or_default().into_owned());
    data.set("id", Uuid::now_v7().to_string());
    let form = reassign_form(&layout.t.disburse).with_values(&data);
    Ok(reassign_form_page(layout, form).into_response())
}

/// `POST /dashboard/operator/disburse/reassign`
pub async fn reassign(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let layout = with_menu(&app, layout, &user).await?;
    let t = &layout.t.disburse;
    let mut form = reassign_form(t).with_values(&data);
    let typed = data.trimmed("amount");
    let amount = Cents::from_positive_dollars(typed);
    if amount.is_none() && !typed.is_empty() {
        form.add_error("amount", t.invalid_amount);
        return Ok(reassign_form_page(layout, form).invalid());
    }
    // The ID of the form makes a second click change nothing.
    let id = Uuid::try_parse(data.trimmed("id")).unwrap_or_else(|_| Uuid::now_v7());
    let names = (data.trimmed("from"), data.trimmed("to"));
    let actor = (id, Actor::Account(user.account));
    match app
        .disbursements()
        .reassign(names, amount, data.trimmed("reason"), actor)
        .await
    {
        Ok(_) => Ok(Flash::Reassigned.redirect(&app.site.public_url, PATH)),
        Err(error) => {
            form.add_form_error(refusal(error)?);
            Ok(reassign_form_page(layout, form).invalid())
        }
    }
}

fn reassign_form(t: &DisburseTexts) -> Form {
    let fields = vec![
        Field::hidden("id", ""),
        Field::text("from", t.from).hint(t.nonprofit_hint),
        Field::text("to", t.to).hint(t.nonprofit_hint),
        Field::text("amount", t.amount).hint(t.amount_hint).optional(),
        Field::text("reason", t.reason).hint(t.reason_hint),
    ];
    Form::new(format!("{PATH}/reassign"), t.reassign, fields).dangerous()
}

fn reassign_form_page(layout: Layout, form: Form) -> FormPage {
    let t = &layout.t.disburse;
    let (title, lead, back) = (t.reassign_title, t.reassign_about, t.back);
    FormPage::new(layout, title, form).lead(lead).link(PATH, back)
}

/// Returns why a step was refused, in sentences. Errors of the store and the like are returned as such.
pub(super) fn refusal(error: DisburseError) -> Result<String> {
    if let DisburseError::Store(_) | DisburseError::Overflow(_) | DisburseError::InvalidFile { .. } = error {
        return Err(error.into());
    }
    let text = error.to_string();
    let sentences = text.split("; ").map(|part| {
        let mut letters = part.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string());
        format!(
            "{}{}.",
            first.unwrap_or_default(),
            letters.as_str().trim_end_matches('.')
        )
    });
    Ok(sentences.collect::<Vec<_>>().join(" "))
}

/// Returns the path of a batch.
pub(super) fn batch_path(number: i64) -> String {
    format!("{PATH}/{number}")
}

pub(super) fn state_text(t: &DisburseTexts, state: BatchState) -> &'static str {
    match state {
        BatchState::Draft => t.draft,
        BatchState::Approved => t.approved,
        BatchState::Exported => t.exported,
        BatchState::Closed => t.closed,
    }
}

async fn show(app: &App, user: &SignedIn, layout: Layout, refusal: Option<String>) -> Result<Response> {
    let layout = with_menu(app, layout, user).await?;
    let (t, now) = (&layout.t.disburse, app.clock.millis());
    let settings = &app.config.disburse;
    let date = |at| format_date(at, &app.config.time_zone);
    let mut standings = Vec::new();
    let (mut owed, mut payable) = (Cents::ZERO, Cents::ZERO);
    for standing in app.disbursements().list_owed(None).await? {
        owed = owed.plus(standing.owed).unwrap_or(owed);
        payable = payable.plus(standing.payable).unwrap_or(payable);
        let holds = standing.holds.iter().map(|(hold, amount)| {
            let until = match hold {
                Hold::PayeeChanged { until } => fill(t.held_until, &[("date", &date(*until))]),
                _ => String::new(),
            };
            format!("{amount}: {}{until}", hold.reason())
        });
        standings.push(StandingView {
            holds: holds.collect(),
            oldest: standing.oldest_at.map(date),
            is_overdue: standing.is_overdue(now, settings.max_millis()),
            standing,
        });
    }
    let batches = store::list_batches(&app.db, i64::MAX, MAX_BATCHES).await?;
    let batches = batches.into_iter().map(|batch| BatchView {
        state: state_text(t, batch.state),
        prepared: RelativeTime::new(batch.prepared_at, now),
        batch,
    });
    let status = if refusal.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    let page = DisbursePage {
        is_test: app.disbursements().mode.is_test(),
        refusal,
        standings,
        owed,
        payable,
        batches: batches.collect(),
        is_alone: settings.second_operator && summaries::count_operators(&app.db).await? < 2,
        rules: fill(
            t.rules,
            &[
                ("minimum", &settings.minimum.to_string()),
                ("days", &settings.hold_days.to_string()),
            ],
        ),
        layout,
    };
    Ok((status, Page(page)).into_response())
}

/// The choices of how a nonprofit is paid.
pub(super) fn methods(t: &DisburseTexts) -> Vec<Choice> {
    vec![
        Choice::new("ach", t.ach, t.ach_hint),
        Choice::new("check", t.check, t.check_hint),
    ]
}
