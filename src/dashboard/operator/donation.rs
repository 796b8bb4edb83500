//! The page of a donation: who gave it, how it was paid, what the ledger says about it, and its refund.

use crate::app::App;
use crate::dashboard::operator::list::with_times;
use crate::dashboard::operator::money::DisputeView;
use crate::dashboard::operator::names::name_of;
use crate::dashboard::operator::nav::with_menu;
use crate::dashboard::operator::stripe_links::object_url;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{MoneyTexts, fill};
use crate::web::{Field, Form, FormData, Layout, Page};
use access::audit::{self, Action, Actor};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use giving::checkout::Donation;
use giving::checkout::store as checkout;
use giving::donations::listing::RecordedDonation;
use giving::donations::store;
use giving::fundraisers::store as fundraisers;
use giving::ledger::entry::Entry;
use giving::ledger::store as ledger;
use giving::monthly::{State as GiftState, store as monthly_gifts};
use giving::payments::error::PaymentError;
use giving::payments::store::{self as payments, EventOfDonation, RefundRequestOfDonation};
use giving::providers::stripe;
use giving::providers::stripe::client::StripeError;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use uuid::Uuid;

#[derive(Template)]
#[template(path = "dashboard/operator/donation.html")]
struct DonationPage {
    layout: Layout,
    recorded: Option<RecordedDonation>,
    when: RelativeTime,
    nonprofit: String,
    nonprofit_id: NonprofitId,
    fundraiser: Option<(FundraiserId, String)>,
    /// How it was paid, if that was at our checkout.
    payment: Option<PaymentView>,
    disputes: Vec<DisputeView>,
    entries: Vec<(Entry, RelativeTime)>,
    refund: RefundView,
}

/// How a donation was paid.
struct PaymentView {
    donation: Donation,
    /// The state of its monthly gift.
    gift_state: Option<&'static str>,
    paid: Option<RelativeTime>,
    /// The page of the charge in Stripe's dashboard.
    charge_url: Option<String>,
    events: Vec<(EventOfDonation, RelativeTime)>,
    refunds: Vec<(RefundRequestOfDonation, RelativeTime)>,
}

/// Whether a donation can be refunded on this page.
enum RefundView {
    /// It was not paid with Stripe, or nothing of it is left.
    None,
    /// Its dispute has to be decided first.
    Disputed,
    Form(Box<Form>),
}

/// A donation in the ledger, at our checkout, or both.
struct Found {
    recorded: Option<RecordedDonation>,
    started: Option<Donation>,
}

/// `GET /dashboard/operator/donations/{id}`: by the number of its ledger entry, by its ID at the checkout, or by the
/// ID of its receipt.
pub async fn donation(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let found = Found::find(&app, &id).await?;
    show(&app, &user, layout, found, None).await
}

/// `POST /dashboard/operator/donations/{id}/refund`
pub async fn refund(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let found = Found::find(&app, &id).await?;
    let (Some(payments), Some(donation), Some(left)) =
        (app.payments(), found.started.clone(), found.refundable(&app))
    else {
        return Err(Error::NotFound);
    };
    let t = &layout.t.money;
    let mut form = refund_form(t, &donation, left, None).with_values(&data);
    let amount = Cents::from_positive_dollars(data.trimmed("amount"));
    if amount.is_none() {
        form.add_error("amount", t.refund_invalid_amount);
    } else if data.trimmed("left") != left.to_input_value() {
        // A form that is sent twice must not refund twice.
        form = refund_form(t, &donation, left, None);
        form.add_form_error(t.refund_changed);
    }
    if let (Some(amount), false) = (amount, form.has_errors()) {
        let actor = Actor::Account(user.account);
        let subject = donation.id.to_string();
        let action = Action::new(actor, "donation refund", &subject, amount.to_string());
        audit::store::record_alone(&app.db, &action, app.clock.millis()).await?;
        match payments.refund(donation, Some(amount)).await {
            Ok(asked) => {
                let flash = if asked.is_confirmed {
                    Flash::RefundDone
                } else {
                    Flash::RefundAsked
                };
                let page = format!("/dashboard/operator/donations/{subject}");
                return Ok(flash.redirect(&app.site.public_url, &page));
            }
            Err(error) => match error_text(t, &error) {
                Some(text) => form.add_error("amount", text),
                None => return Err(error.into()),
            },
        }
    }
    let page = show(&app, &user, layout, found, Some(form)).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

/// Says why a refund was not made. `None` if only the log should.
fn error_text(t: &MoneyTexts, error: &PaymentError) -> Option<String> {
    match error {
        PaymentError::Disputed => Some(t.refund_disputed.to_owned()),
        PaymentError::MoreThanLeft { left } => {
            Some(fill(t.refund_more_than_left, &[("left", &left.to_string())]))
        }
        PaymentError::RefundInProgress { amount } => {
            Some(fill(t.refund_in_progress, &[("amount", &amount.to_string())]))
        }
        PaymentError::Stripe(StripeError::Unavailable(_)) => Some(t.refund_unreachable.to_owned()),
        PaymentError::Stripe(StripeError::Unknown(_)) => Some(t.refund_unknown.to_owned()),
        PaymentError::Stripe(StripeError::Refused { error, .. }) => {
            let reason = error.message.as_deref().unwrap_or_default();
            Some(fill(t.refund_refused, &[("reason", reason)]))
        }
        _ => None,
    }
}

fn refund_form(
    t: &MoneyTexts,
    donation: &Donation,
    left: Cents,
    unanswered: Option<&RefundRequestOfDonation>,
) -> Form {
    let hint = match unanswered {
        Some(request) => fill(t.refund_again, &[("amount", &request.amount.to_string())]),
        None => fill(t.refund_left, &[("left", &left.to_string())]),
    };
    let amount = unanswered.map_or(left, |request| request.amount);
    let fields = vec![
        Field::text("amount", t.refund_amount)
            .value(amount.to_input_value())
            .hint(hint),
        Field::hidden("left", left.to_input_value()),
    ];
    let action = format!("/dashboard/operator/donations/{}/refund", donation.id);
    Form::new(action, t.refund_submit, fields)
        .id("refund")
        .dangerous()
}

async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    found: Found,
    refused: Option<Form>,
) -> Result<Response> {
    let now = app.clock.millis();
    let (at, nonprofit, fundraiser) = match (&found.recorded, &found.started) {
        (Some(recorded), _) => (recorded.recorded_at, recorded.nonprofit, recorded.fundraiser),
        (None, Some(started)) => (started.started_at, started.nonprofit, started.fundraiser),
        (None, None) => return Err(Error::NotFound),
    };
    let t = &layout.t.money;
    let mut disputes = Vec::new();
    if let Some(started) = &found.started {
        let rows = payments::list_disputes_of(&app.db, started.id).await?;
        let view = |row| DisputeView::new(app, t, row, started.mode);
        disputes = rows.into_iter().map(view).collect();
    }
    let entries = match &found.recorded {
        Some(recorded) => ledger::list_about(&app.db, recorded.sequence).await?,
        None => Vec::new(),
    };
    let left = found.refundable(app);
    let payment = match found.started {
        Some(started) => Some(PaymentView::load(app, t, started).await?),
        None => None,
    };
    let refund = match (&payment, left, refused) {
        (_, _, Some(form)) => RefundView::Form(Box::new(form)),
        (Some(payment), Some(left), None) => {
            if payments::has_open_dispute(&app.db, payment.donation.id).await? {
                RefundView::Disputed
            } else {
                let form = refund_form(t, &payment.donation, left, payment.unanswered_refund());
                RefundView::Form(Box::new(form))
            }
        }
        _ => RefundView::None,
    };
    let page = DonationPage {
        when: RelativeTime::new(at, now),
        nonprofit: name_of(app, nonprofit).await?,
        nonprofit_id: nonprofit,
        fundraiser: match fundraiser {
            Some(id) => fundraisers::find(&app.db, id)
                .await?
                .map(|found| (id, found.title)),
            None => None,
        },
        recorded: found.recorded,
        payment,
        disputes,
        entries: with_times(entries.into_iter(), now, |entry| entry.draft.recorded_at),
        refund,
        layout: with_menu(app, layout, user).await?,
    };
    Ok(Page(page).into_response())
}

/// Returns the name of the state of a monthly gift.
pub(super) fn state_text(t: &MoneyTexts, state: GiftState) -> &'static str {
    match state {
        GiftState::Active => t.gift_active,
        GiftState::PastDue => t.gift_past_due,
        GiftState::Paused => t.gift_paused,
        GiftState::Canceled => t.gift_canceled,
    }
}

impl Found {
    async fn find(app: &App, id: &str) -> Result<Found> {
        match (id.parse(), Uuid::try_parse(id)) {
            (Ok(sequence), _) => {
                let recorded = store::find(&app.db, sequence).await?;
                let checkout_id = recorded.as_ref().and_then(|recorded| recorded.checkout_id);
                let started = match checkout_id {
                    Some(id) => checkout::find(&app.db, id).await?,
                    None => None,
                };
                Ok(Found { recorded, started })
            }
            (_, Ok(id)) => Ok(Found {
                recorded: store::find_by_checkout(&app.db, id).await?,
                started: checkout::find_by_either_id(&app.db, id).await?,
            }),
            _ => Err(Error::NotFound),
        }
    }

    /// Returns what Stripe can refund. `None` if it was not paid there, or if nothing is left.
    fn refundable(&self, app: &App) -> Option<Cents> {
        let (recorded, started) = (self.recorded.as_ref()?, self.started.as_ref()?);
        let payments = app.payments()?;
        let is_paid_here = started.provider == stripe::NAME
            && started.mode == payments.mode
            && started.payment.charge.is_some();
        let left = recorded.amount.plus(recorded.refunded.reversed()).ok()?;
        (is_paid_here && left > Cents::ZERO).then_some(left)
    }
}

impl PaymentView {
    async fn load(app: &App, t: &MoneyTexts, donation: Donation) -> Result<PaymentView> {
        let now = app.clock.millis();
        let events = payments::list_events_of(&app.db, donation.id).await?;
        let refunds = payments::list_refund_requests_of(&app.db, donation.id).await?;
        let charge = donation.payment.charge.as_deref();
        let gift = match donation.monthly_gift {
            Some(gift) => monthly_gifts::find(&app.db, gift).await?,
            None => None,
        };
        Ok(PaymentView {
            gift_state: gift.map(|gift| state_text(t, gift.status.state)),
            paid: donation.payment.paid_at.map(|at| RelativeTime::new(at, now)),
            charge_url: charge.map(|charge| object_url(charge, !donation.mode.is_test())),
            events: with_times(events.into_iter(), now, |event| event.received_at),
            refunds: with_times(refunds.into_iter(), now, |refund| refund.asked_at),
            donation,
        })
    }

    /// Returns the refund that Stripe has not answered yet.
    fn unanswered_refund(&self) -> Option<&RefundRequestOfDonation> {
        let mut refunds = self.refunds.iter().map(|(refund, _)| refund);
        refunds.find(|refund| refund.answered_at.is_none())
    }
}
