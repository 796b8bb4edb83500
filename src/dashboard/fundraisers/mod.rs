//! The fundraisers of an account on its dashboard: the list, one, and creating, editing, closing and reopening one.

pub mod form;
pub mod view;

use crate::app::App;
use crate::dashboard::fundraisers::view::FundraiserView;
use crate::http::error::{Error, Result};
use crate::http::pagination::Pagination;
use crate::http::params::{self, PathText, RawQuery};
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::frame::Tab;
use crate::web::texts::{Fundraisers as Texts, fill};
use crate::web::{Form, Frame, Page, Sent};
use access::keys::Class;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use directory::{NonprofitRef, ResolveError};
use giving;
use giving::fundraisers::validate::validate;
use giving::fundraisers::write::{CreateFundraiser, UpdateFundraiser};
use giving::fundraisers::{Fundraiser, store};
use giving::idempotency::{IdempotentRequest, StoredResponse};
use platform::ids::{FundraiserId, NonprofitId};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::time::Duration;
use uuid::Uuid;

const LIST: &str = "/dashboard/fundraisers";
/// Fundraisers on a page of the list.
const TAKE: u64 = 20;

#[derive(Template)]
#[template(path = "dashboard/fundraisers/list.html")]
struct List {
    frame: Frame,
    fundraisers: Vec<FundraiserView>,
    pagination: Pagination,
}

#[derive(Template)]
#[template(path = "dashboard/fundraisers/fundraiser.html")]
struct One {
    frame: Frame,
    fundraiser: FundraiserView,
}

impl List {
    /// The page before; before one past the end that is the last.
    fn newer(&self) -> u64 {
        (self.pagination.page - 1).clamp(1, self.pagination.pages.max(1))
    }
}

/// `GET /dashboard/fundraisers`
pub async fn list(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let page = params::positive(&query, "page").ok().flatten().unwrap_or(1) as u64;
    let skip = Pagination::new(page, TAKE, 0).skipped();
    let skip = i64::try_from(skip).unwrap_or(i64::MAX);
    let (listed, total) = store::list_of_account(&app.db, who.account, skip, TAKE as i64).await?;
    let mut fundraisers = Vec::with_capacity(listed.len());
    for fundraiser in listed {
        fundraisers.push(FundraiserView::load(&app, fundraiser).await?);
    }
    let page = List {
        frame: frame.at(&who, Tab::Fundraisers),
        fundraisers,
        pagination: Pagination::new(page, TAKE, total),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/fundraisers/{id}`
pub async fn one(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    PathText(id): PathText,
) -> Result<Response> {
    let known = own(&app, &who, &id).await?;
    let page = One {
        fundraiser: FundraiserView::load(&app, known).await?,
        frame: frame.at(&who, Tab::Fundraisers),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/fundraisers/new`
pub async fn new_page(who: SignedIn, frame: Frame) -> FormPage {
    let form = form::new_form(&frame.t.fundraisers);
    new_with(&who, frame, form)
}

/// `POST /dashboard/fundraisers/new`
pub async fn create(State(app): State<App>, who: SignedIn, frame: Frame, sent: Sent) -> Result<Response> {
    let t = &frame.t.fundraisers;
    let mut form = form::new_form(t).filled(&sent);
    let id = Uuid::try_parse(sent.text("once")).map(FundraiserId);
    let id = id.map_err(|_| Error::NotAForm)?;
    if store::find(&app.db, id).await?.is_some() {
        return Ok(go_to(&app, id, Flash::AlreadyDone));
    }
    let mut body = form::read(&mut form, &sent, None, t);
    match find_nonprofit(&app, sent.text("nonprofit"), t).await? {
        Ok(nonprofit) => _ = body.insert("nonprofitId".to_owned(), json!(nonprofit.0)),
        Err(fault) => form.refuse("nonprofit", fault),
    }
    let judged = match validate(&app.directory, &app.pictures, who.account, &body, false).await {
        Err(giving::Error::Invalid(faults)) => {
            form::refuse(&mut form, faults);
            None
        }
        judged => Some(judged?).filter(|_| !form.is_refused()),
    };
    let Some((fundraiser, _)) = judged else {
        return Ok(new_with(&who, frame, form).refused());
    };
    if let Err(seconds) = admit(&app, &who) {
        form.refuse_all(fill(t.too_often, &[("seconds", &seconds.to_string())]));
        return Ok(new_with(&who, frame, form).too_often(Duration::from_secs(seconds)));
    }
    let order = CreateFundraiser {
        fundraiser: Fundraiser { id, ..fundraiser },
        // Two that come at once find each other here.
        request: Some(IdempotentRequest {
            account: who.account,
            name: format!("dashboard {id}"),
            hash: Sha256::digest(id.0).into(),
        }),
    };
    // The page that follows is the same for every request with this key, so the response needs no content.
    let created = app.recorder.create(order, |_, _| StoredResponse::default());
    match created.await {
        Ok(_) => Ok(go_to(&app, id, Flash::FundraiserCreated)),
        Err(giving::Error::Invalid(faults)) => {
            form::refuse(&mut form, faults);
            Ok(new_with(&who, frame, form).refused())
        }
        Err(error) => Err(error.into()),
    }
}

/// Counts a creation for the account, as one by the interface is; else the seconds to wait.
fn admit(app: &App, who: &SignedIn) -> Result<(), u64> {
    let (class, account) = (Class::Create, who.account.0);
    let per_minute = app.config.limits.of_class(class);
    let visitor = app.limiter.visitor(&account);
    let now = app.clock.instant();
    let verdict = app
        .limiter
        .admit(account.as_u128(), class as u32, now, per_minute, visitor);
    match verdict.admitted {
        true => Ok(()),
        false => Err(verdict.retry_after.into()),
    }
}

/// The nonprofit that somebody means, or what to type instead. People may write an EIN with its dash.
async fn find_nonprofit(app: &App, typed: &str, t: &Texts) -> Result<Result<NonprofitId, &'static str>> {
    if typed.trim().is_empty() {
        return Ok(Err(t.no_nonprofit));
    }
    let found = match app.directory.resolve_lenient(typed).await {
        Err(ResolveError::Store(error)) => return Err(error.into()),
        found => found.ok(),
    };
    Ok(match found.as_ref().and_then(NonprofitRef::nonprofit) {
        None => Err(t.unknown_nonprofit),
        Some(nonprofit) if !nonprofit.is_disbursable() => Err(t.not_disbursable),
        Some(nonprofit) => Ok(nonprofit.id),
    })
}

fn new_with(who: &SignedIn, frame: Frame, form: Form) -> FormPage {
    let t = &frame.t.fundraisers;
    FormPage::new(frame.at(who, Tab::Fundraisers), t.create_title, form)
        .lead(t.create_lead)
        .link(LIST, t.back)
}

/// `GET /dashboard/fundraisers/{id}/edit`
pub async fn edit_page(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    PathText(id): PathText,
) -> Result<FormPage> {
    let known = own(&app, &who, &id).await?;
    let form = form::edit_form(&frame.t.fundraisers, &known);
    edit_with(&app, &who, frame, known, form).await
}

/// `POST /dashboard/fundraisers/{id}/edit`
pub async fn edit(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    PathText(id): PathText,
    sent: Sent,
) -> Result<Response> {
    let known = own(&app, &who, &id).await?;
    let t = &frame.t.fundraisers;
    let mut form = form::edit_form(t, &known).filled(&sent);
    let body = form::read(&mut form, &sent, Some(&known), t);
    let wanted = UpdateFundraiser::Fields(body, None);
    // Judged before it is written, so that all faults are told at once.
    let changed = match wanted.change(&known, app.clock.millis()) {
        Ok(_) if form.is_refused() => None,
        Ok(_) => Some(app.recorder.change(who.account, known.id, wanted).await),
        Err(fault) => Some(Err(fault)),
    };
    match changed {
        Some(Ok(changed)) => Ok(go_to(&app, changed.id, Flash::FundraiserChanged)),
        Some(Err(giving::Error::Invalid(faults))) => {
            form::refuse(&mut form, faults);
            Ok(edit_with(&app, &who, frame, known, form).await?.refused())
        }
        Some(Err(error)) => Err(error.into()),
        None => Ok(edit_with(&app, &who, frame, known, form).await?.refused()),
    }
}

async fn edit_with(
    app: &App,
    who: &SignedIn,
    frame: Frame,
    known: Fundraiser,
    form: Form,
) -> Result<FormPage> {
    let t = &frame.t.fundraisers;
    let back = address(known.id);
    let names = FundraiserView::load(app, known).await?.nonprofit_names();
    let lead = fill(t.edit_lead, &[("nonprofit", &names)]);
    Ok(FormPage::new(frame.at(who, Tab::Fundraisers), t.edit_title, form)
        .lead(lead)
        .link(back, t.back_to_fundraiser))
}

/// `GET /dashboard/fundraisers/{id}/close`
pub async fn close_page(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    PathText(id): PathText,
) -> Result<FormPage> {
    let known = own(&app, &who, &id).await?;
    let t = &frame.t.fundraisers;
    let form = Form::new(format!("{}/close", address(known.id)), t.close, Vec::new()).dangerous();
    let lead = fill(t.close_lead, &[("title", &known.title)]);
    let page = FormPage::new(frame.at(&who, Tab::Fundraisers), t.close_title, form);
    Ok(page.lead(lead).link(address(known.id), t.cancel))
}

/// `POST /dashboard/fundraisers/{id}/close`: one that is closed stays closed.
pub async fn close(State(app): State<App>, who: SignedIn, PathText(id): PathText) -> Result<Response> {
    let known = own(&app, &who, &id).await?;
    app.recorder
        .change(who.account, known.id, UpdateFundraiser::Close)
        .await?;
    Ok(go_to(&app, known.id, Flash::FundraiserClosed))
}

/// `GET /dashboard/fundraisers/{id}/reopen`
pub async fn reopen_page(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    PathText(id): PathText,
) -> Result<FormPage> {
    let known = own(&app, &who, &id).await?;
    let t = &frame.t.fundraisers;
    let form = Form::new(format!("{}/reopen", address(known.id)), t.reopen, Vec::new());
    let lead = fill(t.reopen_lead, &[("title", &known.title)]);
    let page = FormPage::new(frame.at(&who, Tab::Fundraisers), t.reopen_title, form);
    Ok(page.lead(lead).link(address(known.id), t.cancel))
}

/// `POST /dashboard/fundraisers/{id}/reopen`
pub async fn reopen(State(app): State<App>, who: SignedIn, PathText(id): PathText) -> Result<Response> {
    let known = own(&app, &who, &id).await?;
    app.recorder
        .change(who.account, known.id, UpdateFundraiser::Reopen)
        .await?;
    Ok(go_to(&app, known.id, Flash::FundraiserReopened))
}

/// A fundraiser of this account; one of another is not there.
async fn own(app: &App, who: &SignedIn, id: &str) -> Result<Fundraiser> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    let found = store::find(&app.db, FundraiserId(id)).await?;
    found
        .filter(|found| found.account == who.account)
        .ok_or(Error::NotFound)
}

fn address(id: FundraiserId) -> String {
    format!("{LIST}/{id}")
}

fn go_to(app: &App, id: FundraiserId, flash: Flash) -> Response {
    (flash.keep(&app.public_url), Redirect::to(&address(id))).into_response()
}
