//! The operator pages of fundraisers: what waits for a review, hiding and showing, and removing comments. Every action
//! is recorded in the audit log.

use crate::app::App;
use crate::dashboard::fundraisers::view::FundraiserView;
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE, parameter, with_times};
use crate::dashboard::operator::nav::with_menu;
use crate::dashboard::operator::reason;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::{Form, FormData, Layout, Page};
use access::accounts::store as accounts;
use access::audit::Actor;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use giving::donations::comments::{self, Comment};
use giving::donations::store as donations;
use giving::fundraisers::moderate::Decision;
use giving::fundraisers::store::{self, Listing};
use giving::fundraisers::{Fundraiser, Status};
use giving::moderation::DEFAULT_REASON;
use platform::ids::FundraiserId;
use uuid::Uuid;

const LIST_PATH: &str = "/dashboard/operator/fundraisers";
/// The number of comments that the page of a fundraiser lists.
const MAX_COMMENTS: i64 = 100;

#[derive(Template)]
#[template(path = "dashboard/operator/fundraisers.html")]
struct FundraisersPage {
    layout: Layout,
    shown: &'static str,
    pager: Pager,
    fundraisers: Vec<Row>,
    default_reason: &'static str,
}

struct Row {
    view: FundraiserView,
    creator: String,
    created: RelativeTime,
    is_public: bool,
}

#[derive(Template)]
#[template(path = "dashboard/operator/fundraiser.html")]
struct FundraiserPage {
    layout: Layout,
    row: Row,
    hide: Form,
    comments: Vec<(Comment, RelativeTime)>,
}

/// `GET /dashboard/operator/fundraisers`: those in review, or those that `show` names: `reported` (large
/// amounts that organizers report), `hidden` or `all`.
pub async fn list(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let (shown, listing) = match parameter(query.as_deref(), "show").as_str() {
        "reported" => {
            let large = app.config.fundraisers.large_offline();
            ("reported", Listing::LargeOffline(large))
        }
        "hidden" => ("hidden", Listing::Hidden),
        "all" => ("all", Listing::All),
        _ => ("review", Listing::InReview),
    };
    let list_page = ListPage::parse(query.as_deref(), store::count(&app.db, listing).await?);
    let found = store::list_page(&app.db, listing, PAGE_SIZE, list_page.skipped()).await?;
    let mut fundraisers = Vec::with_capacity(found.len());
    for fundraiser in found {
        fundraisers.push(Row::load(&app, fundraiser).await?);
    }
    let page = FundraisersPage {
        pager: list_page.pager(&layout, LIST_PATH, &[("show", shown)]),
        layout: with_menu(&app, layout, &user).await?,
        shown,
        fundraisers,
        default_reason: DEFAULT_REASON,
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/fundraisers/{id}`
pub async fn fundraiser(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let fundraiser = find(&app, &id).await?;
    let form = hide_form(&layout, fundraiser.id);
    show(&app, &user, layout, fundraiser, form).await
}

/// `POST /dashboard/operator/fundraisers/{id}/hide`
pub async fn hide(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let fundraiser = find(&app, &id).await?;
    let id = fundraiser.id;
    match parse_reason(&app, &user, layout, fundraiser, &data).await? {
        Ok(reason) => decide(&app, &user, id, Decision::Hide(reason)).await,
        Err(page) => Ok(page),
    }
}

/// Parses the reason to hide a fundraiser. If it is not valid, returns the page of the fundraiser with the error.
pub(super) async fn parse_reason(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    fundraiser: Fundraiser,
    data: &FormData,
) -> Result<std::result::Result<String, Response>> {
    let mut form = hide_form(&layout, fundraiser.id).with_values(data);
    if let Some(reason) = reason::parse(data, &mut form, &layout) {
        return Ok(Ok(reason));
    }
    let page = show(app, user, layout, fundraiser, form).await?;
    Ok(Err((StatusCode::UNPROCESSABLE_ENTITY, page).into_response()))
}

/// `POST /dashboard/operator/fundraisers/{id}/show`: approves one that is in review, or shows one again.
pub async fn show_again(
    State(app): State<App>,
    Operator(user): Operator,
    PathText(id): PathText,
) -> Result<Response> {
    let fundraiser = find(&app, &id).await?;
    decide(&app, &user, fundraiser.id, Decision::Show).await
}

/// `POST /dashboard/operator/fundraisers/{id}/comments/remove`
pub async fn remove_comment(
    State(app): State<App>,
    Operator(user): Operator,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let fundraiser = find(&app, &id).await?;
    let entry = data.trimmed("entry").parse().map_err(|_| Error::NotAForm)?;
    let (actor, now) = (Actor::Account(user.account), app.clock.millis());
    let flash = if comments::remove(&app.db, fundraiser.id, entry, actor, now).await? {
        Flash::CommentRemoved
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, &path(fundraiser.id)))
}

async fn decide(app: &App, user: &SignedIn, id: FundraiserId, decision: Decision) -> Result<Response> {
    let is_hidden = matches!(decision, Decision::Hide(_));
    let decided = app
        .moderation()
        .decide(id, decision, Actor::Account(user.account))
        .await?;
    let flash = match (decided.before == decided.after, is_hidden) {
        (true, _) => Flash::AlreadyDone,
        (false, true) => Flash::FundraiserHidden,
        (false, false) => Flash::FundraiserShown,
    };
    // The next one that waits, if it was a review.
    let target = match decided.before.status() {
        Status::InReview => LIST_PATH.to_owned(),
        _ => path(id),
    };
    Ok(flash.redirect(&app.site.public_url, &target))
}

async fn find(app: &App, id: &str) -> Result<Fundraiser> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    store::find(&app.db, FundraiserId(id))
        .await?
        .ok_or(Error::NotFound)
}

fn path(id: FundraiserId) -> String {
    format!("{LIST_PATH}/{id}")
}

fn hide_form(layout: &Layout, id: FundraiserId) -> Form {
    let action = format!("{}/hide", path(id));
    let field = reason::field(layout).value(DEFAULT_REASON);
    Form::new(action, layout.t.operator.hide, vec![field]).dangerous()
}

impl Row {
    async fn load(app: &App, fundraiser: Fundraiser) -> Result<Row> {
        let creator = accounts::find_username(&app.db, fundraiser.account).await?;
        Ok(Row {
            creator: creator.unwrap_or_default(),
            created: RelativeTime::new(fundraiser.created_at, app.clock.millis()),
            is_public: fundraiser.is_public(),
            view: FundraiserView::load(app, fundraiser).await?,
        })
    }
}

async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    fundraiser: Fundraiser,
    hide: Form,
) -> Result<Response> {
    let comments = donations::list_comments(&app.db, fundraiser.id, MAX_COMMENTS).await?;
    let page = FundraiserPage {
        layout: with_menu(app, layout, user).await?,
        row: Row::load(app, fundraiser).await?,
        comments: with_times(comments.into_iter(), app.clock.millis(), |comment| {
            comment.recorded_at
        }),
        hide,
    };
    Ok(Page(page).into_response())
}
