//! The hosted pages: Checkout, the customer portal and 3D Secure, in plain HTML that works without scripts.

use crate::error::{ApiError, Result};
use crate::json::{maybe_text, number, text};
use crate::objects::payment_intents::Presence;
use crate::objects::{payment_intents, payment_methods, portal, sessions};
use crate::params::Params;
use crate::records::Record;
use crate::shared::{Incoming, Shared};
use crate::state::{Call, State};
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

/// What a page answers.
enum Page {
    Html(StatusCode, String),
    Redirect(String),
}

/// Handles the requests of browsers.
pub(crate) fn handle(shared: &Shared, incoming: &Incoming) -> Response<Body> {
    let segments: Vec<&str> = incoming.path.trim_start_matches('/').split('/').collect();
    let is_post = incoming.method == "POST";
    let form = Params::parse(&incoming.body);
    let mut state = shared.lock();
    let state = &mut *state;
    let page = match segments.as_slice() {
        ["c", "pay", id] => checkout(state, id, is_post.then_some(&form)),
        ["p", "session", id] => portal_page(state, id, is_post.then_some(&form)),
        ["authenticate", id] => authentication(state, id, is_post.then_some(&form)),
        _ => not_found(),
    };
    state.store.commit();
    respond(page)
}

fn respond(page: Page) -> Response<Body> {
    match page {
        Page::Html(status, html) => {
            let mut response = Response::new(Body::from(html));
            *response.status_mut() = status;
            let value = HeaderValue::from_static("text/html; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, value);
            // As on the real page: it cannot be framed.
            let value = HeaderValue::from_static("frame-ancestors 'none'");
            response
                .headers_mut()
                .insert(header::CONTENT_SECURITY_POLICY, value);
            response
        }
        Page::Redirect(url) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::SEE_OTHER;
            if let Ok(value) = HeaderValue::from_str(&url) {
                response.headers_mut().insert(header::LOCATION, value);
            }
            response
        }
    }
}

fn not_found() -> Page {
    let text = "<h1>Page not found</h1><p>This link is not valid.</p>";
    Page::Html(StatusCode::NOT_FOUND, html("Page not found", text))
}

fn html(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{}</title></head>\
         <body><main>{body}</main></body></html>",
        escape(title)
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn dollars(cents: i64) -> String {
    format!("${}.{:02}", cents / 100, cents % 100)
}

fn find(state: &State, kind: &str, id: &str) -> Option<Record> {
    state
        .store
        .record(id)
        .filter(|record| record.kind == kind)
        .cloned()
}

/// Pays a session with the fields of its page, and returns the session.
pub(crate) fn pay_with(state: &mut State, call: &Call, id: &str, form: &Params) -> Result<Value> {
    let session = state.find(&call.scope, sessions::KIND, id)?.clone();
    let email = form.text("email").or(maybe_text(&session, "customer_email"));
    if email.is_none() && maybe_text(&session, "customer").is_none() {
        return Err(ApiError::param("email", "Enter your email address."));
    }
    let method = create_method(state, call, form, email)?;
    sessions::pay(state, call, id, &method, Presence::OnSession)
}

/// Creates a payment method from the fields of a page.
fn create_method(state: &mut State, call: &Call, form: &Params, email: Option<&str>) -> Result<String> {
    let billing = json!({ "email": email, "name": form.value("name") });
    let fields = match form.text("account_number") {
        Some(number) => json!({
            "type": "us_bank_account",
            "us_bank_account": {"account_number": number},
            "billing_details": billing,
        }),
        None => json!({
            "type": "card",
            "card": {"number": form.text("card_number").unwrap_or("4242424242424242")},
            "billing_details": billing,
        }),
    };
    payment_methods::create_from(state, call, &Params::from_json(fields))
}

/// Where a paid session goes.
fn success_url(session: &Value) -> String {
    text(session, "success_url").replace("{CHECKOUT_SESSION_ID}", text(session, "id"))
}

fn checkout(state: &mut State, id: &str, form: Option<&Params>) -> Page {
    let Some(record) = find(state, sessions::KIND, id) else {
        return not_found();
    };
    match text(&record.value, "status") {
        "complete" => {
            let link = escape(&success_url(&record.value));
            let body = format!(
                "<h1>You're all done here</h1><p>This payment is complete. <a href=\"{link}\">Return</a></p>"
            );
            return Page::Html(StatusCode::OK, html("Payment complete", &body));
        }
        "expired" => {
            let body =
                "<h1>This link expired</h1><p>Return to the site that sent you here and try again.</p>";
            return Page::Html(StatusCode::GONE, html("Link expired", body));
        }
        _ => {}
    }
    let call = Call::internal(&record.scope);
    let Some(form) = form else {
        return Page::Html(StatusCode::OK, checkout_form(state, &record.value, None));
    };
    match pay_with(state, &call, id, form) {
        Ok(session) if text(&session, "status") == "complete" => Page::Redirect(success_url(&session)),
        Ok(_) => {
            let intent = text(&state.hidden(id), "payment_intent").to_owned();
            Page::Redirect(format!("{}/authenticate/{intent}", state.base_url))
        }
        Err(error) => {
            let page = checkout_form(state, &record.value, Some(error.message()));
            Page::Html(StatusCode::PAYMENT_REQUIRED, page)
        }
    }
}

/// One line of what is paid for.
fn list_item(item: &Value) -> String {
    let name = escape(text(item, "description"));
    let amount = dollars(number(item, "amount_total"));
    match maybe_text(&item["price"]["recurring"], "interval") {
        Some(interval) => format!("<li>{name}: {amount} per {interval}</li>"),
        None => format!("<li>{name}: {amount}</li>"),
    }
}

fn checkout_form(state: &State, session: &Value, error: Option<&str>) -> String {
    let id = text(session, "id");
    let items: Vec<String> = sessions::items_of(state, id).iter().map(list_item).collect();
    let items = items.concat();
    let button = match text(session, "submit_type") {
        "donate" => "Donate",
        "book" => "Book",
        _ if text(session, "mode") == "subscription" => "Subscribe",
        _ => "Pay",
    };
    let amount = dollars(number(session, "amount_total"));
    let mode = if session["livemode"] == true {
        ""
    } else {
        "<p>Test mode</p>"
    };
    let email = match maybe_text(session, "customer_email") {
        Some(email) => format!("<p>Email: {}</p>", escape(email)),
        None if maybe_text(session, "customer").is_some() => String::new(),
        None => field("email", "Email", "email", ""),
    };
    let error = error
        .map(|error| format!("<p role=\"alert\">{}</p>", escape(error)))
        .unwrap_or_default();
    let has_bank = session["payment_method_types"]
        .as_array()
        .is_some_and(|types| types.contains(&"us_bank_account".into()));
    let bank = if has_bank {
        format!(
            "<form method=\"post\"><fieldset><legend>Pay by bank account</legend>{email}{}{}\
             <button type=\"submit\" name=\"bank\" value=\"1\">{button} by bank</button></fieldset></form>",
            field("name", "Full name", "text", ""),
            field("account_number", "Account number", "text", "000123456789"),
        )
    } else {
        String::new()
    };
    let cancel = maybe_text(session, "cancel_url")
        .map(|url| format!("<p><a href=\"{}\">Back</a></p>", escape(url)))
        .unwrap_or_default();
    let body = format!(
        "<h1>{button} {amount}</h1>{mode}<ul>{items}</ul>{error}\
         <form method=\"post\" id=\"card\"><fieldset><legend>Pay by card</legend>{email}{}{}{}{}\
         <button type=\"submit\">{button}</button></fieldset></form>{bank}{cancel}",
        field("card_number", "Card number", "text", ""),
        field("expiry", "Expiration", "text", "12 / 34"),
        field("cvc", "CVC", "text", "123"),
        field("name", "Cardholder name", "text", ""),
    );
    html(&format!("{button} {amount}"), &body)
}

fn field(name: &str, label: &str, kind: &str, value: &str) -> String {
    format!(
        "<p><label>{label} <input name=\"{name}\" type=\"{kind}\" value=\"{value}\" required></label></p>"
    )
}

fn authentication(state: &mut State, id: &str, form: Option<&Params>) -> Page {
    let Some(record) = find(state, payment_intents::KIND, id) else {
        return not_found();
    };
    if text(&record.value, "status") != "requires_action" {
        return not_found();
    }
    let Some(form) = form else {
        let body = "<h1>Confirm your payment</h1><p>Your bank asks whether this payment is yours.</p><form method=\"post\">\
                    <button type=\"submit\" name=\"result\" value=\"complete\">Complete</button> \
                    <button type=\"submit\" name=\"result\" value=\"fail\">Fail</button></form>";
        return Page::Html(StatusCode::OK, html("Confirm your payment", body));
    };
    let call = Call::internal(&record.scope);
    let session = maybe_text(&record.hidden, "session").map(str::to_owned);
    if form.text("result") != Some("complete") {
        let changes =
            json!({ "status": "requires_payment_method", "next_action": null, "payment_method": null });
        state.update(&call, id, &changes, Some("payment_intent.payment_failed"));
        let error = "We are unable to authenticate your payment method. Please choose a different payment method and try again.";
        return match session {
            Some(session) => {
                let page = checkout_form(state, &state.object(&session), Some(error));
                Page::Html(StatusCode::PAYMENT_REQUIRED, page)
            }
            None => Page::Html(StatusCode::PAYMENT_REQUIRED, html("Payment failed", error)),
        };
    }
    let method = text(&record.value, "payment_method").to_owned();
    let paid = match &session {
        Some(session) => sessions::pay(state, &call, session, &method, Presence::Authenticated),
        None => payment_intents::pay(state, &call, id, &method, Presence::Authenticated),
    };
    match (paid, session) {
        (Ok(session), Some(_)) => Page::Redirect(success_url(&session)),
        (Ok(_), None) => Page::Html(
            StatusCode::OK,
            html("Payment complete", "<h1>Payment complete</h1>"),
        ),
        (Err(error), _) => Page::Html(
            StatusCode::PAYMENT_REQUIRED,
            html("Payment failed", &escape(error.message())),
        ),
    }
}

fn portal_page(state: &mut State, id: &str, form: Option<&Params>) -> Page {
    let Some(record) = find(state, portal::KIND, id) else {
        return not_found();
    };
    let call = Call::internal(&record.scope);
    let mut error = None;
    if let Some(form) = form {
        let method = create_method(state, &call, form, None);
        match method.and_then(|method| portal::replace_method(state, &call, id, &method)) {
            Ok(Some(url)) => return Page::Redirect(url),
            Ok(None) => {
                let body = "<h1>Payment method updated</h1>";
                return Page::Html(StatusCode::OK, html("Payment method updated", body));
            }
            Err(refused) => error = Some(refused.message().to_owned()),
        }
    }
    let status = if error.is_some() {
        StatusCode::PAYMENT_REQUIRED
    } else {
        StatusCode::OK
    };
    let alert = error
        .map(|error| format!("<p role=\"alert\">{}</p>", escape(&error)))
        .unwrap_or_default();
    let back = maybe_text(&record.value, "return_url")
        .map(|url| format!("<p><a href=\"{}\">Back</a></p>", escape(url)))
        .unwrap_or_default();
    let body = format!(
        "<h1>Add payment method</h1>{alert}<form method=\"post\">{}{}{}{}<button type=\"submit\">Add</button></form>{back}",
        field("card_number", "Card number", "text", ""),
        field("expiry", "Expiration", "text", "12 / 34"),
        field("cvc", "CVC", "text", "123"),
        field("name", "Cardholder name", "text", ""),
    );
    Page::Html(status, html("Add payment method", &body))
}
