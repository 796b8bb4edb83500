//! The operations of the API: one line for each.

use crate::error::{ApiError, Result};
use crate::lists;
use crate::objects::{
    accounts, catalog, charges, customers, disputes, invoice_items, invoices, payment_intents,
    payment_methods, payouts, portal, refunds, renewals, sessions, setup_intents, subscription_items,
    subscriptions, test_clocks, webhook_endpoints,
};
use crate::state::{Call, State};
use crate::transactions;
use serde_json::Value;

/// Runs an operation.
#[expect(clippy::too_many_lines, reason = "one line for each operation")]
#[rustfmt::skip]
pub(crate) fn dispatch(state: &mut State, call: &Call, method: &str, path: &str) -> Result<Value> {
    let segments: Vec<&str> = path.trim_start_matches("/v1/").trim_end_matches('/').split('/').collect();
    match (method, segments.as_slice()) {
        ("GET", ["account"]) => Ok(accounts::own(state, call)),
        ("GET", ["accounts", id]) => accounts::retrieve(state, id),

        ("GET", ["balance"]) => Ok(transactions::balance(state, call)),
        ("GET", ["balance_transactions"] | ["balance", "history"]) => transactions::list(state, call),
        ("GET", ["balance_transactions", id] | ["balance", "history", id]) => transactions::retrieve(state, call, id),

        ("POST", ["billing_portal", "configurations"]) => portal::create_configuration(state, call),
        ("GET", ["billing_portal", "configurations"]) => portal::list_configurations(state, call),
        ("POST", ["billing_portal", "configurations", id]) => portal::update_configuration(state, call, id),
        ("POST", ["billing_portal", "sessions"]) => portal::create(state, call),

        ("GET", ["charges"]) => charges::list(state, call),
        ("GET", ["charges", id]) => charges::retrieve(state, call, id),
        ("POST", ["charges", id]) => charges::update(state, call, id),

        ("POST", ["checkout", "sessions"]) => sessions::create(state, call),
        ("GET", ["checkout", "sessions"]) => sessions::list(state, call),
        ("GET", ["checkout", "sessions", id]) => sessions::retrieve(state, call, id),
        ("POST", ["checkout", "sessions", id]) => sessions::update(state, call, id),
        ("POST", ["checkout", "sessions", id, "expire"]) => sessions::expire(state, call, id),
        ("GET", ["checkout", "sessions", id, "line_items"]) => sessions::list_items(state, call, id),
        ("GET", ["payment_pages", id]) => sessions::payment_page(state, call, id),
        ("POST", ["payment_pages", id, "confirm"]) => sessions::confirm_page(state, call, id),

        ("POST", ["customers"]) => customers::create(state, call),
        ("GET", ["customers"]) => customers::list(state, call),
        ("GET", ["customers", id]) => customers::retrieve(state, call, id),
        ("POST", ["customers", id]) => customers::update(state, call, id),
        ("DELETE", ["customers", id]) => customers::delete(state, call, id),

        ("GET", ["disputes"]) => disputes::list(state, call),
        ("GET", ["disputes", id]) => disputes::retrieve(state, call, id),
        ("POST", ["disputes", id]) => disputes::update(state, call, id),
        ("POST", ["disputes", id, "close"]) => disputes::close(state, call, id),

        ("GET", ["events"]) => lists::list(state, call, "event", "/v1/events", &["type"]),
        ("GET", ["events", id]) => state.find(&call.scope, "event", id).cloned(),

        ("POST", ["invoiceitems"]) => invoice_items::create_item(state, call),
        ("GET", ["invoiceitems", id]) => state.find(&call.scope, "invoiceitem", id).cloned(),
        ("DELETE", ["invoiceitems", id]) => invoice_items::delete_item(state, call, id),
        ("GET", ["invoice_payments"]) => invoices::list_payments(state, call),
        ("GET", ["invoice_payments", id]) => state.find(&call.scope, "invoice_payment", id).cloned(),
        ("POST", ["invoices"]) => invoices::create(state, call),
        ("GET", ["invoices"]) => invoices::list(state, call),
        ("GET", ["invoices", id]) => invoices::retrieve(state, call, id),
        ("GET", ["invoices", id, "lines"]) => Ok(invoices::retrieve(state, call, id)?["lines"].clone()),
        ("POST", ["invoices", id]) => invoices::update(state, call, id),
        ("DELETE", ["invoices", id]) => invoices::delete(state, call, id),
        ("POST", ["invoices", id, "finalize"]) => invoices::finalize_request(state, call, id),
        ("POST", ["invoices", id, "mark_uncollectible"]) => invoices::abandon_request(state, call, id, "uncollectible"),
        ("POST", ["invoices", id, "pay"]) => renewals::pay_invoice(state, call, id),
        ("POST", ["invoices", id, "send"]) => invoices::send(state, call, id),
        ("POST", ["invoices", id, "void"]) => invoices::abandon_request(state, call, id, "void"),

        ("POST", ["payment_intents"]) => payment_intents::create(state, call),
        ("GET", ["payment_intents"]) => payment_intents::list(state, call),
        ("GET", ["payment_intents", id]) => payment_intents::retrieve(state, call, id),
        ("POST", ["payment_intents", id]) => payment_intents::update(state, call, id),
        ("POST", ["payment_intents", id, "cancel"]) => payment_intents::cancel(state, call, id),
        ("POST", ["payment_intents", id, "capture"]) => payment_intents::capture(state, call, id),
        ("POST", ["payment_intents", id, "confirm"]) => payment_intents::confirm(state, call, id),

        ("POST", ["payment_methods"]) => payment_methods::create(state, call),
        ("GET", ["payment_methods"]) => payment_methods::list(state, call),
        ("GET", ["payment_methods", id]) => payment_methods::retrieve(state, call, id),
        ("POST", ["payment_methods", id]) => payment_methods::update(state, call, id),
        ("POST", ["payment_methods", id, "attach"]) => payment_methods::attach(state, call, id),
        ("POST", ["payment_methods", id, "detach"]) => payment_methods::detach(state, call, id),

        ("POST", ["payouts"]) => payouts::create(state, call),
        ("GET", ["payouts"]) => payouts::list(state, call),
        ("GET", ["payouts", id]) => payouts::retrieve(state, call, id),
        ("POST", ["payouts", id]) => payouts::update(state, call, id),

        ("POST", ["products"]) => catalog::create_product(state, call),
        ("GET", ["products"]) => catalog::list(state, call, "product"),
        ("GET", ["products", id]) => catalog::retrieve(state, call, "product", id),
        ("POST", ["products", id]) => catalog::update_product(state, call, id),
        ("DELETE", ["products", id]) => catalog::delete_product(state, call, id),
        ("POST", ["prices"]) => catalog::create_price(state, call),
        ("GET", ["prices"]) => catalog::list(state, call, "price"),
        ("GET", ["prices", id]) => catalog::retrieve(state, call, "price", id),
        ("POST", ["prices", id]) => catalog::update_price(state, call, id),

        ("POST", ["refunds"]) => refunds::create(state, call),
        ("GET", ["refunds"]) => refunds::list(state, call),
        ("GET", ["refunds", id]) => refunds::retrieve(state, call, id),
        ("POST", ["refunds", id]) => refunds::update(state, call, id),

        ("POST", ["setup_intents"]) => setup_intents::create(state, call),
        ("GET", ["setup_intents"]) => setup_intents::list(state, call),
        ("GET", ["setup_intents", id]) => setup_intents::retrieve(state, call, id),
        ("POST", ["setup_intents", id, "cancel"]) => setup_intents::cancel(state, call, id),
        ("POST", ["setup_intents", id, "confirm"]) => setup_intents::confirm(state, call, id),

        ("POST", ["subscriptions"]) => subscriptions::create(state, call),
        ("GET", ["subscriptions"]) => subscriptions::list(state, call),
        ("GET", ["subscriptions", id]) => subscriptions::retrieve(state, call, id),
        ("POST", ["subscriptions", id]) => subscriptions::update(state, call, id),
        ("DELETE", ["subscriptions", id]) => subscriptions::cancel(state, call, id),
        ("POST", ["subscriptions", id, "resume"]) => subscriptions::resume(state, call, id),
        ("GET", ["subscription_items"]) => subscription_items::list_items(state, call),
        ("GET", ["subscription_items", id]) => subscription_items::retrieve_item(state, call, id),
        ("POST", ["subscription_items", id]) => subscriptions::update_item(state, call, id),

        ("POST", ["test_helpers", "test_clocks"]) => test_clocks::create(state, call),
        ("GET", ["test_helpers", "test_clocks"]) => test_clocks::list(state, call),
        ("GET", ["test_helpers", "test_clocks", id]) => test_clocks::retrieve(state, call, id),
        ("DELETE", ["test_helpers", "test_clocks", id]) => test_clocks::delete(state, call, id),
        ("POST", ["test_helpers", "test_clocks", id, "advance"]) => test_clocks::advance(state, call, id),

        ("GET", ["webhook_endpoints"]) => webhook_endpoints::list(state, call),

        _ => Err(ApiError::unknown_url(method, path)),
    }
}
