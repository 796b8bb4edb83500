//! What an account may not do while an operator has blocked one of its keys.

use crate::app::App;
use crate::http::error::Result;
use crate::web::Layout;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use access::accounts::standing::Standing;
use access::accounts::store::find_standing;
use access::sessions::SignedIn;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Returns the response to a user who may not create keys and fundraisers, or `None` if they may. Otherwise a blocked
/// user would simply create the next key.
pub async fn refuse_to_create(
    app: &App,
    user: &SignedIn,
    layout: &Layout,
    tab: Tab,
) -> Result<Option<Response>> {
    let standing = find_standing(&app.db, user.account).await?;
    Ok((standing != Standing::Good).then(|| refusal(user, layout, tab)))
}

/// Returns the page that says why the user may not create keys and fundraisers.
pub fn refusal(user: &SignedIn, layout: &Layout, tab: Tab) -> Response {
    let t = &layout.t.accounts;
    let page = FormPage::without_form(layout.clone().with_menu(user, tab), t.not_allowed_title)
        .lead(t.not_allowed)
        .link("/dashboard", layout.t.keys.back);
    (StatusCode::FORBIDDEN, page).into_response()
}
