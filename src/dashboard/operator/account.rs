//! The operator page of an account: suspending and restoring it, resetting its second factor, removing its name and
//! picture. Every action is recorded in the audit log.

use crate::app::App;
use crate::dashboard::emails::send_notice;
use crate::dashboard::fundraisers::view::FundraiserView;
use crate::dashboard::operator::nav::with_menu;
use crate::dashboard::operator::reason;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::fill;
use crate::web::{Form, FormData, Layout, Page};
use access::accounts::public_profile::{ProfilePart, PublicProfile};
use access::accounts::store::profile;
use access::accounts::two_factor::store as two_factor;
use access::accounts::{Account, Username, store, suspension};
use access::audit::Actor;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use giving::fundraisers::store as fundraisers;

/// The number of fundraisers that the page lists.
const MAX_FUNDRAISERS: i64 = 50;

#[derive(Template)]
#[template(path = "dashboard/operator/account.html")]
struct AccountPage {
    layout: Layout,
    account: Account,
    created: RelativeTime,
    profile: PublicProfile,
    fundraisers: Vec<FundraiserView>,
    /// Operators do not suspend themselves.
    is_self: bool,
    /// Since when two-factor sign-in is on.
    two_factor_since: Option<RelativeTime>,
    suspend: Form,
}

/// `GET /dashboard/operator/accounts/{username}`
pub async fn account(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(username): PathText,
) -> Result<Response> {
    let account = find(&app, &username).await?;
    let form = suspend_form(&layout, &account);
    show(&app, &user, layout, account, form).await
}

/// `POST /dashboard/operator/accounts/{username}/suspend`
pub async fn suspend(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(username): PathText,
    data: FormData,
) -> Result<Response> {
    let account = find(&app, &username).await?;
    let mut form = suspend_form(&layout, &account).with_values(&data);
    if account.id == user.account {
        form.add_form_error(layout.t.operator.not_yourself);
    }
    let reason = reason::parse(&data, &mut form, &layout);
    let Some(reason) = reason.filter(|_| !form.has_errors()) else {
        let page = show(&app, &user, layout, account, form).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    };
    let actor = Actor::Account(user.account);
    app.moderation().suspend(&account, &reason, actor).await?;
    app.access.keys.refresh().await?;
    Ok(Flash::AccountSuspended.redirect(&app.site.public_url, &path(&account)))
}

/// `POST /dashboard/operator/accounts/{username}/restore`
pub async fn restore(
    State(app): State<App>,
    Operator(user): Operator,
    PathText(username): PathText,
) -> Result<Response> {
    let account = find(&app, &username).await?;
    let (actor, now) = (Actor::Account(user.account), app.clock.millis());
    let is_restored = suspension::restore(&app.db, (account.id, &account.username), actor, now).await?;
    app.access.keys.refresh().await?;
    let flash = if is_restored {
        Flash::AccountRestored
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, &path(&account)))
}

/// `POST /dashboard/operator/accounts/{username}/reset-two-factor`
pub async fn reset_two_factor(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(username): PathText,
) -> Result<Response> {
    let account = find(&app, &username).await?;
    let (actor, now) = (Actor::Account(user.account), app.clock.millis());
    let subject = (account.id, account.username.as_str());
    let flash = if two_factor::reset(&app.db, subject, actor, now).await? {
        let emails = &layout.t.emails;
        let text = (emails.two_factor_off_subject, emails.two_factor_off);
        send_notice(&app, &account.username, account.email.as_deref(), text);
        Flash::TwoFactorReset
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, &path(&account)))
}

/// `GET /dashboard/operator/accounts/{username}/remove-name`
pub async fn remove_name_page(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(username): PathText,
) -> Result<Response> {
    confirm_removal(&app, &user, layout, &username, ProfilePart::Name).await
}

/// `GET /dashboard/operator/accounts/{username}/remove-picture`
pub async fn remove_picture_page(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(username): PathText,
) -> Result<Response> {
    confirm_removal(&app, &user, layout, &username, ProfilePart::Picture).await
}

async fn confirm_removal(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    username: &str,
    part: ProfilePart,
) -> Result<Response> {
    let account = find(app, username).await?;
    let t = &layout.t.operator;
    let (title, lead, action) = match part {
        ProfilePart::Name => (t.remove_name, t.remove_name_about, "remove-name"),
        ProfilePart::Picture => (t.remove_picture, t.remove_picture_about, "remove-picture"),
    };
    let form = Form::new(format!("{}/{action}", path(&account)), title, Vec::new()).dangerous();
    let page = FormPage::new(with_menu(app, layout, user).await?, title, form)
        .lead(fill(lead, &[("username", &account.username)]))
        .link(path(&account), t.cancel);
    Ok(page.into_response())
}

/// `POST /dashboard/operator/accounts/{username}/remove-name`
pub async fn remove_name(
    State(app): State<App>,
    Operator(user): Operator,
    PathText(username): PathText,
) -> Result<Response> {
    remove(&app, &user, &username, ProfilePart::Name, Flash::NameRemoved).await
}

/// `POST /dashboard/operator/accounts/{username}/remove-picture`
pub async fn remove_picture(
    State(app): State<App>,
    Operator(user): Operator,
    PathText(username): PathText,
) -> Result<Response> {
    remove(
        &app,
        &user,
        &username,
        ProfilePart::Picture,
        Flash::PictureRemoved,
    )
    .await
}

async fn remove(
    app: &App,
    user: &SignedIn,
    username: &str,
    part: ProfilePart,
    done: Flash,
) -> Result<Response> {
    let account = find(app, username).await?;
    let subject = (account.id, account.username.as_str());
    let removed = app.remove_from_profile(subject, part, Actor::Account(user.account));
    let flash = if removed.await? { done } else { Flash::AlreadyDone };
    Ok(flash.redirect(&app.site.public_url, &path(&account)))
}

async fn find(app: &App, username: &str) -> Result<Account> {
    let username = Username::parse(username).map_err(|_| Error::NotFound)?;
    let found = store::find(&app.db, username.as_str()).await?;
    found.ok_or(Error::NotFound)
}

fn path(account: &Account) -> String {
    format!("/dashboard/operator/accounts/{}", account.username)
}

fn suspend_form(layout: &Layout, account: &Account) -> Form {
    let action = format!("{}/suspend", path(account));
    Form::new(action, layout.t.operator.suspend, vec![reason::field(layout)]).dangerous()
}

async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    account: Account,
    suspend: Form,
) -> Result<Response> {
    let (found, _) = fundraisers::list_of_account(&app.db, account.id, 0, MAX_FUNDRAISERS).await?;
    let mut views = Vec::with_capacity(found.len());
    for fundraiser in found {
        views.push(FundraiserView::load(app, fundraiser).await?);
    }
    let now = app.clock.millis();
    let two_factor = two_factor::find_state(&app.db, account.id).await?;
    let profile = profile::find(&app.db, account.id).await?;
    let page = AccountPage {
        profile: profile.ok_or(Error::NotFound)?,
        two_factor_since: two_factor.enabled_at.map(|at| RelativeTime::new(at, now)),
        layout: with_menu(app, layout, user).await?,
        created: RelativeTime::new(account.created_at, now),
        is_self: account.id == user.account,
        fundraisers: views,
        account,
        suspend,
    };
    Ok(Page(page).into_response())
}
