//! `GET /dashboard/welcome`: asks the owner of a new account what it is for, and leads there.

use crate::web::layout::Tab;
use crate::web::{Layout, Page};
use access::sessions::SignedIn;
use askama::Template;
use axum::response::{IntoResponse, Response};

#[derive(Template)]
#[template(path = "dashboard/welcome.html")]
struct Welcome {
    layout: Layout,
}

pub async fn welcome(user: SignedIn, layout: Layout) -> Response {
    let page = Welcome {
        layout: layout.with_menu(&user, Tab::None),
    };
    Page(page).into_response()
}
