//! Fundraisers on the dashboard: listing, creating, editing, closing and reopening them.

pub mod export;
pub mod form;
mod nonprofits;
mod preview;
pub mod thank;
pub mod view;

use crate::app::App;
use crate::dashboard::fundraisers::view::FundraiserView;
use crate::dashboard::standing::refuse_to_create;
use crate::dashboard::uploads;
use crate::http::error::{Error, Result};
use crate::http::pagination::Pagination;
use crate::http::params::{self, PathText, RawQuery};
use crate::web::flash::Flash;
use crate::web::form::picture::REMOVE;
use crate::web::form_page::FormPage;
use crate::web::fundraiser_article::{SupporterRow, list_supporters};
use crate::web::layout::Tab;
use crate::web::share_links::ShareLinks;
use crate::web::texts::{PickerTexts, fill};
use crate::web::{Form, Layout, Page, UploadForm};
use access::keys::Class;
use access::limits::call::{Call, Owner};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::fundraisers::change::FundraiserChange;
use giving::fundraisers::input::SupportedInput;
use giving::fundraisers::write::{CreateFundraiser, UpdateFundraiser};
use giving::fundraisers::{Fundraiser, store};
use giving::idempotency::{IdempotentRequest, StoredResponse};
use giving::ledger::entry::TotalsByMode;
use giving::ledger::store as ledger;
use giving::thanks::{self, ThanksStatus};
use platform::ids::FundraiserId;
use sha2::{Digest, Sha256};
use std::time::Duration;
use uuid::Uuid;

const LIST_PATH: &str = "/dashboard/fundraisers";
/// Fundraisers per page of the list.
const PAGE_SIZE: u64 = 20;

#[derive(Template)]
#[template(path = "dashboard/fundraisers/list.html")]
struct FundraisersPage {
    layout: Layout,
    fundraisers: Vec<FundraiserView>,
    pagination: Pagination,
}

#[derive(Template)]
#[template(path = "dashboard/fundraisers/fundraiser.html")]
struct FundraiserPage {
    layout: Layout,
    fundraiser: FundraiserView,
    supporters: Vec<SupporterRow>,
    /// Whether its donors can be thanked by email.
    can_thank: bool,
    thanks: ThanksStatus,
}

#[derive(Template)]
#[template(path = "dashboard/fundraisers/poster.html")]
struct PosterPage {
    layout: Layout,
    back: String,
    title: String,
    nonprofits: Vec<String>,
    cover: String,
    cover_focus: String,
    share: ShareLinks,
}

impl FundraisersPage {
    /// Returns the number of the previous page, or of the last page if this one is past the end.
    fn newer_page(&self) -> u64 {
        (self.pagination.page - 1).clamp(1, self.pagination.pages.max(1))
    }
}

/// `GET /dashboard/fundraisers`
pub async fn list(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let page = params::positive(&query, "page").ok().flatten().unwrap_or(1) as u64;
    let skip = Pagination::new(page, PAGE_SIZE, 0).skipped();
    let skip = i64::try_from(skip).unwrap_or(i64::MAX);
    let (found, total) = store::list_of_account(&app.db, user.account, skip, PAGE_SIZE as i64).await?;
    let mut fundraisers = Vec::with_capacity(found.len());
    for fundraiser in found {
        fundraisers.push(FundraiserView::load(&app, fundraiser).await?);
    }
    let page = FundraisersPage {
        layout: layout.with_menu(&user, Tab::Fundraisers),
        fundraisers,
        pagination: Pagination::new(page, PAGE_SIZE, total),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/fundraisers/{id}`
pub async fn fundraiser(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let fundraiser = find_own(&app, &user, &id).await?;
    let page = FundraiserPage {
        supporters: list_supporters(&app, fundraiser.id).await?,
        thanks: thanks::status(app.giving_notices(), fundraiser.id).await?,
        can_thank: app.mail.is_on() && fundraiser.is_public(),
        fundraiser: FundraiserView::load(&app, fundraiser).await?,
        layout: layout.with_menu(&user, Tab::Fundraisers),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/fundraisers/{id}/poster`: a page to print and put up.
pub async fn poster(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let fundraiser = FundraiserView::load(&app, find_own(&app, &user, &id).await?).await?;
    let share = fundraiser.share.ok_or(Error::NotFound)?;
    let page = PosterPage {
        back: format!("{LIST_PATH}/{id}"),
        title: fundraiser.title,
        nonprofits: fundraiser.nonprofits.into_iter().map(|(name, _)| name).collect(),
        cover: fundraiser.cover,
        cover_focus: fundraiser.cover_focus,
        share,
        layout: layout.with_menu(&user, Tab::Fundraisers),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/fundraisers/new`, with `nonprofit` to choose one.
pub async fn new_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    if let Some(refusal) = refuse_to_create(&app, &user, &layout, Tab::Fundraisers).await? {
        return Ok(refusal);
    }
    let mut form = form::new_form(&layout.t.fundraisers, layout.f);
    let chosen = params::values(&query, "nonprofit").next().unwrap_or_default();
    if let (Some(nonprofit), Some(picker)) = (
        nonprofits::find(&app, &chosen, &layout.f.picker).await?,
        form.picker_mut(),
    ) {
        picker.choose(nonprofit);
    }
    Ok(new_with(&user, layout, form).into_response())
}

/// `POST /dashboard/fundraisers/new`: creates a fundraiser, or shows its preview, or the form again, as `action` says.
pub async fn create(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    UploadForm { mut data, file, .. }: UploadForm,
) -> Result<Response> {
    let (t, f) = (&layout.t.fundraisers, layout.f);
    let mut form = form::new_form(t, f).with_values(&data);
    let id = Uuid::try_parse(data.text("once")).map(FundraiserId);
    let id = id.map_err(|_| Error::NotAForm)?;
    if store::find(&app.db, id).await?.is_some() {
        return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, &path(id)));
    }
    if let Some(refusal) = refuse_to_create(&app, &user, &layout, Tab::Fundraisers).await? {
        return Ok(refusal);
    }
    let supported = find_nonprofits(&app, &mut form, &f.picker).await?;
    let input = form::to_input(&mut form, &data, supported, t);
    let cover = uploads::take(&app, &user, &mut form, &mut data, file, &f.picture).await?;
    if data.text("action") == form::EDIT {
        return Ok(new_with(&user, layout, form).into_response());
    }
    let validated = match input
        .validate(&app.directory, user.account, app.config.fundraisers)
        .await
    {
        Err(giving::Error::Invalid(errors)) => {
            form::add_errors(&mut form, errors, t);
            None
        }
        validated => Some(validated?).filter(|_| !form.has_errors()),
    };
    let Some((fundraiser, _)) = validated else {
        return Ok(new_with(&user, layout, form).invalid());
    };
    let fundraiser = Fundraiser {
        id,
        cover: cover.filter(|_| data.find(REMOVE).is_none()),
        ..fundraiser
    };
    if data.text("action") == form::PREVIEW {
        let subject = (preview::Subject::New, format!("{LIST_PATH}/new"));
        let totals = TotalsByMode::default();
        return preview::show(&app, &user, layout, subject, &fundraiser, totals, &data).await;
    }
    if let Err(seconds) = admit(&app, &user).await {
        form.add_form_error(fill(t.too_often, &[("seconds", &seconds.to_string())]));
        return Ok(new_with(&user, layout, form).too_many_requests(Duration::from_secs(seconds)));
    }
    let command = CreateFundraiser {
        fundraiser,
        // Detects a second request that arrives at the same time.
        request: Some(IdempotentRequest {
            account: user.account,
            name: format!("dashboard {id}"),
            hash: Sha256::digest(id.0).into(),
        }),
        review: app.config.fundraisers.review,
    };
    // The page that follows is the same for every request with this key, so the response needs no content.
    let created = app
        .giving
        .recorder
        .create(command, |_, _| StoredResponse::default());
    match created.await {
        Ok(_) => Ok(Flash::FundraiserCreated.redirect(&app.site.public_url, &path(id))),
        Err(giving::Error::Invalid(errors)) => {
            form::add_errors(&mut form, errors, t);
            Ok(new_with(&user, layout, form).invalid())
        }
        Err(error) => Err(error.into()),
    }
}

/// Counts a creation against the rate limit of the account, as the API does. Fails with the seconds to wait.
async fn admit(app: &App, user: &SignedIn) -> Result<(), u64> {
    let call = Call {
        owner: Owner::Account(user.account),
        class: Class::Create,
        per_minute: app.limits().of_class(Class::Create),
        address: None,
    };
    let decision = app.access.limiter.admit(&call, app.clock.instant()).await;
    if decision.is_admitted() {
        Ok(())
    } else {
        Err(decision.retry_after().into())
    }
}

/// Finds the nonprofits of the form, and adds errors to the form.
async fn find_nonprofits(app: &App, form: &mut Form, t: &PickerTexts) -> Result<SupportedInput> {
    let Some(picker) = form.picker_mut() else {
        return Ok(nonprofits::to_input(Vec::new()));
    };
    let found = nonprofits::resolve(app, picker, t).await?;
    let error = picker.first_error();
    match error {
        Some(error) => form.add_error("nonprofit", error),
        None if found.is_empty() => form.add_error("nonprofit", t.empty),
        None => {}
    }
    Ok(nonprofits::to_input(found))
}

fn new_with(user: &SignedIn, layout: Layout, form: Form) -> FormPage {
    let t = &layout.t.fundraisers;
    FormPage::new(layout.with_menu(user, Tab::Fundraisers), t.create_title, form)
        .script("fundraiser-form.js")
        .lead(t.create_lead)
        .link(LIST_PATH, t.back)
}

/// `GET /dashboard/fundraisers/{id}/edit`
pub async fn edit_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<FormPage> {
    let fundraiser = find_own(&app, &user, &id).await?;
    let form = form::edit_form(&layout.t.fundraisers, layout.f, &fundraiser);
    edit_with(&app, &user, layout, fundraiser, form).await
}

/// `POST /dashboard/fundraisers/{id}/edit`: changes a fundraiser, or shows its preview, or the form again, as `action`
/// says.
pub async fn edit(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    UploadForm { mut data, file, .. }: UploadForm,
) -> Result<Response> {
    let fundraiser = find_own(&app, &user, &id).await?;
    let (t, f) = (&layout.t.fundraisers, layout.f);
    let mut form = form::edit_form(t, f, &fundraiser).with_values(&data);
    let change = form::to_change(&mut form, &data, &fundraiser, t);
    let cover = uploads::take(&app, &user, &mut form, &mut data, file, &f.picture).await?;
    if data.text("action") == form::EDIT {
        return Ok(edit_with(&app, &user, layout, fundraiser, form)
            .await?
            .into_response());
    }
    let cover = if data.find(REMOVE).is_some() {
        Some(None)
    } else {
        cover.map(Some)
    };
    let update = UpdateFundraiser::Change(FundraiserChange { cover, ..change }, app.config.fundraisers);
    // Validated before it is written, so that all errors are shown at once.
    let changed = match update.apply(&fundraiser, app.clock.millis()) {
        Ok(_) if form.has_errors() => None,
        Ok(changed) if data.text("action") == form::PREVIEW => {
            let subject = (preview::Subject::Change, format!("{}/edit", path(fundraiser.id)));
            let totals = ledger::find_totals(&app.db, fundraiser.id).await?;
            return preview::show(&app, &user, layout, subject, &changed, totals, &data).await;
        }
        Ok(_) => Some(
            app.giving
                .recorder
                .change(user.account, fundraiser.id, update)
                .await,
        ),
        Err(error) => Some(Err(error)),
    };
    match changed {
        Some(Ok(changed)) => Ok(Flash::FundraiserChanged.redirect(&app.site.public_url, &path(changed.id))),
        Some(Err(giving::Error::Invalid(errors))) => {
            form::add_errors(&mut form, errors, t);
            Ok(edit_with(&app, &user, layout, fundraiser, form).await?.invalid())
        }
        Some(Err(error)) => Err(error.into()),
        None => Ok(edit_with(&app, &user, layout, fundraiser, form).await?.invalid()),
    }
}

async fn edit_with(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    fundraiser: Fundraiser,
    form: Form,
) -> Result<FormPage> {
    let t = &layout.t.fundraisers;
    let back = path(fundraiser.id);
    let names = FundraiserView::load(app, fundraiser).await?.nonprofit_names();
    let lead = fill(t.edit_lead, &[("nonprofit", &names)]);
    Ok(
        FormPage::new(layout.with_menu(user, Tab::Fundraisers), t.edit_title, form)
            .script("fundraiser-form.js")
            .lead(lead)
            .link(back, t.back_to_fundraiser),
    )
}

/// `GET /dashboard/fundraisers/{id}/close`
pub async fn close_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<FormPage> {
    let fundraiser = find_own(&app, &user, &id).await?;
    let t = &layout.t.fundraisers;
    let form = Form::new(format!("{}/close", path(fundraiser.id)), t.close, Vec::new()).dangerous();
    let texts = (t.close_title, t.close_lead);
    Ok(confirmation_page(&user, layout, &fundraiser, form, texts))
}

/// `POST /dashboard/fundraisers/{id}/close`. Closing a closed fundraiser does nothing.
pub async fn close(State(app): State<App>, user: SignedIn, PathText(id): PathText) -> Result<Response> {
    update(&app, &user, &id, UpdateFundraiser::Close, Flash::FundraiserClosed).await
}

/// `GET /dashboard/fundraisers/{id}/reopen`
pub async fn reopen_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<FormPage> {
    let fundraiser = find_own(&app, &user, &id).await?;
    let t = &layout.t.fundraisers;
    let form = Form::new(format!("{}/reopen", path(fundraiser.id)), t.reopen, Vec::new());
    let texts = (t.reopen_title, t.reopen_lead);
    Ok(confirmation_page(&user, layout, &fundraiser, form, texts))
}

/// `POST /dashboard/fundraisers/{id}/reopen`
pub async fn reopen(State(app): State<App>, user: SignedIn, PathText(id): PathText) -> Result<Response> {
    update(
        &app,
        &user,
        &id,
        UpdateFundraiser::Reopen,
        Flash::FundraiserReopened,
    )
    .await
}

/// Returns a page with one button, and a link back to the fundraiser.
fn confirmation_page(
    user: &SignedIn,
    layout: Layout,
    fundraiser: &Fundraiser,
    form: Form,
    (title, lead): (&'static str, &'static str),
) -> FormPage {
    let t = &layout.t.fundraisers;
    FormPage::new(layout.with_menu(user, Tab::Fundraisers), title, form)
        .lead(fill(lead, &[("title", &fundraiser.title)]))
        .link(path(fundraiser.id), t.cancel)
}

async fn update(
    app: &App,
    user: &SignedIn,
    id: &str,
    update: UpdateFundraiser,
    flash: Flash,
) -> Result<Response> {
    let id = find_own(app, user, id).await?.id;
    app.giving.recorder.change(user.account, id, update).await?;
    Ok(flash.redirect(&app.site.public_url, &path(id)))
}

/// Finds a fundraiser of the signed-in user. Fundraisers of other users are not found.
async fn find_own(app: &App, user: &SignedIn, id: &str) -> Result<Fundraiser> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    let found = store::find(&app.db, FundraiserId(id)).await?;
    found
        .filter(|found| found.account == user.account)
        .ok_or(Error::NotFound)
}

fn path(id: FundraiserId) -> String {
    format!("{LIST_PATH}/{id}")
}
