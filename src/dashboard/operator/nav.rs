//! The menu of the operator pages, with the number of fundraisers, reports and payments that wait.

use crate::app::App;
use crate::http::error::Result;
use crate::web::Layout;
use crate::web::layout::{OpenWork, Tab};
use access::claims::store as claims;
use access::sessions::SignedIn;
use directory::eligibility::store as eligibility;
use giving::disbursement::batches::store as batches;
use giving::fundraisers::store::{self as fundraisers, Listing};
use giving::payments::store as payments;
use giving::providers::Provider;
use giving::reports;

/// Returns the layout of an operator page.
pub async fn with_menu(app: &App, layout: Layout, user: &SignedIn) -> Result<Layout> {
    let money = match app.payments() {
        Some(_) => {
            let open = payments::find_open(&app.db).await?;
            Some(open.differences + open.unanswered_disputes)
        }
        None => None,
    };
    let disburse = if app.config.giving == Provider::Off {
        None
    } else {
        let (drafts, approved) = batches::count_waiting(&app.db).await?;
        Some(drafts + approved)
    };
    let eligibility = eligibility::count_open(&mut app.db.view().await?).await?;
    let mut layout = layout.with_menu(user, Tab::Operator);
    layout.open_work = OpenWork {
        reviews: fundraisers::count(&app.db, Listing::InReview).await?,
        reports: reports::store::count(&app.db, false).await?,
        eligibility,
        claims: claims::count_waiting(&app.db).await?,
        money,
        has_monthly: app.config.giving.offers_monthly(),
        disburse,
    };
    Ok(layout)
}
