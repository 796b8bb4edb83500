//! Invoices and their payments.

use crate::cards;
use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{embedded_list, maybe_text, merge_metadata, number, text};
use crate::lists;
use crate::objects::invoice_items::{Line, assign_items, line_of_item, show_line, take_items};
use crate::objects::payment_intents::{self, Presence};
use crate::objects::{customers, payment_methods};
use crate::records::Job;
use crate::state::{Call, State};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "invoice";

const PAYMENT: &str = "invoice_payment";

/// What an invoice is for.
pub(crate) struct Draft<'a> {
    pub(crate) customer: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) lines: Vec<Line>,
    pub(crate) currency: &'a str,
    pub(crate) subscription: Option<&'a Value>,
    pub(crate) period: (i64, i64),
    pub(crate) metadata: Value,
    pub(crate) description: Value,
    pub(crate) is_automatic: bool,
}

/// Creates a draft invoice, which `invoice.created` announces.
pub(crate) fn create_draft(state: &mut State, call: &Call, draft: &Draft<'_>) -> Value {
    let id = new_id("in");
    let customer = state.object(draft.customer);
    let total: i64 = draft.lines.iter().map(|line| line.amount).sum();
    let lines: Vec<Value> = draft
        .lines
        .iter()
        .map(|line| show_line(line, &id, draft.currency, call.scope.livemode))
        .collect();
    let parent = draft.subscription.map(|subscription| {
        json!({
            "quote_details": null,
            "subscription_details": {"metadata": subscription["metadata"], "subscription": subscription["id"]},
            "type": "subscription_details",
        })
    });
    let now = state.now();
    let finalizes = draft.is_automatic.then(|| now + state.tuning().invoice_delay);
    let value = json!({
        "id": id,
        "object": KIND,
        "account_country": "US",
        "account_name": "Simulator",
        "account_tax_ids": null,
        "amount_due": total.max(0),
        "amount_overpaid": 0,
        "amount_paid": 0,
        "amount_remaining": total.max(0),
        "amount_shipping": 0,
        "application": null,
        "attempt_count": 0,
        "attempted": false,
        "auto_advance": draft.is_automatic,
        "automatic_tax": {
            "disabled_reason": null, "enabled": false, "liability": null, "provider": null, "status": null,
        },
        "automatically_finalizes_at": finalizes,
        "billing_reason": draft.reason,
        "collection_method": "charge_automatically",
        "created": now,
        "currency": draft.currency,
        "custom_fields": null,
        "customer": draft.customer,
        "customer_account": null,
        "customer_address": customer["address"],
        "customer_email": customer["email"],
        "customer_name": customer["name"],
        "customer_phone": customer["phone"],
        "customer_shipping": null,
        "customer_tax_exempt": "none",
        "customer_tax_ids": [],
        "default_payment_method": null,
        "default_source": null,
        "default_tax_rates": [],
        "description": draft.description,
        "discounts": [],
        "due_date": null,
        "effective_at": null,
        "ending_balance": null,
        "footer": null,
        "from_invoice": null,
        "hosted_invoice_url": null,
        "invoice_pdf": null,
        "issuer": {"type": "self"},
        "last_finalization_error": null,
        "latest_revision": null,
        "lines": embedded_list(&format!("/v1/invoices/{id}/lines"), &lines),
        "livemode": call.scope.livemode,
        "metadata": draft.metadata,
        "next_payment_attempt": finalizes,
        "number": null,
        "on_behalf_of": null,
        "parent": parent,
        "payment_settings": {
            "default_mandate": null, "payment_method_options": null, "payment_method_types": null,
        },
        "period_end": draft.period.1,
        "period_start": draft.period.0,
        "post_payment_credit_notes_amount": 0,
        "pre_payment_credit_notes_amount": 0,
        "receipt_number": null,
        "rendering": null,
        "shipping_cost": null,
        "shipping_details": null,
        "starting_balance": 0,
        "statement_descriptor": null,
        "status": "draft",
        "status_transitions": {
            "finalized_at": null, "marked_uncollectible_at": null, "paid_at": null, "voided_at": null,
        },
        "subtotal": total,
        "subtotal_excluding_tax": total,
        "test_clock": customer["test_clock"],
        "total": total,
        "total_discount_amounts": [],
        "total_excluding_tax": total,
        "total_pretax_credit_amounts": [],
        "total_taxes": [],
        "webhooks_delivered_at": null,
    });
    state.create(call, value, json!({}), Some("invoice.created"))
}

/// Returns the subscription of an invoice.
pub(crate) fn subscription_of(invoice: &Value) -> Option<String> {
    maybe_text(&invoice["parent"]["subscription_details"], "subscription").map(str::to_owned)
}

fn transition(invoice: &Value, name: &str, time: i64) -> Value {
    let mut transitions = invoice["status_transitions"].clone();
    transitions[name] = time.into();
    transitions
}

/// Turns a draft into an invoice that can be paid.
pub(crate) fn finalize(state: &mut State, call: &Call, id: &str) -> Value {
    let invoice = state.object(id);
    if text(&invoice, "status") != "draft" {
        return invoice;
    }
    state.unschedule(|job| matches!(job, Job::FinalizeInvoice { invoice } if invoice == id));
    let customer = state.object(text(&invoice, "customer"));
    let sequence = number(&customer, "next_invoice_sequence").max(1);
    state.update(
        call,
        text(&customer, "id"),
        &json!({ "next_invoice_sequence": sequence + 1 }),
        None,
    );
    let now = state.now();
    let changes = json!({
        "status": "open",
        "number": format!("{}-{sequence:04}", text(&customer, "invoice_prefix")),
        "automatically_finalizes_at": null,
        "effective_at": now,
        "ending_balance": 0,
        "hosted_invoice_url": format!("{}/invoice/{id}", state.base_url),
        "invoice_pdf": format!("{}/invoice/{id}/pdf", state.base_url),
        "status_transitions": transition(&invoice, "finalized_at", now),
        "webhooks_delivered_at": now,
    });
    state.update(call, id, &changes, Some("invoice.finalized"))
}

/// Returns the payment method that pays an invoice.
fn method_of(state: &State, invoice: &Value) -> Option<String> {
    let of_subscription = subscription_of(invoice).and_then(|subscription| {
        maybe_text(&state.object(&subscription), "default_payment_method").map(str::to_owned)
    });
    let own = maybe_text(invoice, "default_payment_method").map(str::to_owned);
    own.or(of_subscription)
        .or_else(|| customers::default_method(state, text(invoice, "customer")))
}

/// Tries to collect an open invoice. On success it is paid, or its bank debit is in progress.
pub(crate) fn collect(
    state: &mut State,
    call: &Call,
    id: &str,
    method: Option<String>,
    presence: Presence,
) -> Result<Value> {
    let invoice = state.object(id);
    let amount = number(&invoice, "amount_remaining");
    if amount == 0 {
        return Ok(mark_paid(state, call, id, None));
    }
    let attempts = number(&invoice, "attempt_count") + 1;
    state.update(
        call,
        id,
        &json!({ "attempted": true, "attempt_count": attempts }),
        None,
    );
    let Some(method) = method.or_else(|| method_of(state, &invoice)) else {
        let message = "This customer has no attached payment source or default payment method.";
        return Err(ApiError::invalid(message).with("code", "resource_missing"));
    };
    let hidden = state.hidden(id);
    let intent = match maybe_text(&hidden, "payment_intent") {
        Some(intent) => intent.to_owned(),
        None => create_intent(state, call, &invoice, amount),
    };
    let paid = payment_intents::pay(state, call, &intent, &method, presence);
    let is_action_required = paid.as_ref().map_or_else(
        |error| error.fields["code"] == "authentication_required",
        |intent| text(intent, "status") == "requires_action",
    );
    if is_action_required {
        let invoice = state.object(id);
        state.emit(call, "invoice.payment_action_required", &invoice, None);
    }
    match text(&paid?, "status") {
        "succeeded" => Ok(mark_paid(state, call, id, Some(&intent))),
        "requires_action" => Err(cards::authentication_required()),
        _ => Ok(state.object(id)),
    }
}

fn create_intent(state: &mut State, call: &Call, invoice: &Value, amount: i64) -> String {
    let id = text(invoice, "id");
    let fields = json!({
        "customer": invoice["customer"],
        "description": if subscription_of(invoice).is_some() { "Subscription update" } else { "Invoice" },
        "setup_future_usage": "off_session",
    });
    let intent = payment_intents::create_with(state, call, amount, text(invoice, "currency"), &fields);
    let intent = text(&intent, "id").to_owned();
    link_payment(state, call, id, &intent, amount);
    intent
}

/// Makes a payment intent the one that pays an invoice.
pub(crate) fn link_payment(state: &mut State, call: &Call, id: &str, intent: &str, amount: i64) {
    state.hide(id, &json!({ "payment_intent": intent }));
    state.hide(intent, &json!({ "invoice": id }));
    let payment = json!({
        "id": new_id("inpay"),
        "object": PAYMENT,
        "amount_paid": null,
        "amount_requested": amount,
        "created": state.now(),
        "currency": state.object(id)["currency"],
        "invoice": id,
        "is_default": true,
        "livemode": call.scope.livemode,
        "payment": {"payment_intent": intent, "type": "payment_intent"},
        "status": "open",
        "status_transitions": {"canceled_at": null, "paid_at": null},
    });
    state.create(call, payment, Value::Null, None);
}

/// Marks an invoice as paid.
pub(crate) fn mark_paid(state: &mut State, call: &Call, id: &str, intent: Option<&str>) -> Value {
    let invoice = state.object(id);
    let now = state.now();
    let amount = number(&invoice, "amount_due");
    state.unschedule(|job| matches!(job, Job::RetryInvoice { invoice } if invoice == id));
    if intent.is_some() {
        let payment = payments_of(state, call, id).pop().unwrap_or_default();
        let changes = json!({
            "status": "paid",
            "amount_paid": amount,
            "status_transitions": {"canceled_at": null, "paid_at": now},
        });
        state.update(call, text(&payment, "id"), &changes, Some("invoice_payment.paid"));
    }
    let changes = json!({
        "status": "paid",
        "amount_paid": amount,
        "amount_remaining": 0,
        "attempted": true,
        "attempt_count": number(&invoice, "attempt_count").max(i64::from(intent.is_some())),
        "auto_advance": false,
        "next_payment_attempt": null,
        "status_transitions": transition(&invoice, "paid_at", now),
    });
    let invoice = state.update(call, id, &changes, Some("invoice.paid"));
    state.emit(call, "invoice.payment_succeeded", &invoice, None);
    invoice
}

/// Voids an invoice, or marks it as uncollectible.
pub(crate) fn abandon(state: &mut State, call: &Call, id: &str, status: &str) -> Value {
    let invoice = state.object(id);
    state.unschedule(|job| match job {
        Job::RetryInvoice { invoice } | Job::FinalizeInvoice { invoice } => invoice == id,
        _ => false,
    });
    let (name, event) = match status {
        "void" => ("voided_at", "invoice.voided"),
        _ => ("marked_uncollectible_at", "invoice.marked_uncollectible"),
    };
    let changes = json!({
        "status": status,
        "auto_advance": false,
        "automatically_finalizes_at": null,
        "next_payment_attempt": null,
        "status_transitions": transition(&invoice, name, state.now()),
    });
    state.update(call, id, &changes, Some(event))
}

/// Returns the payments of an invoice, oldest first.
pub(crate) fn payments_of(state: &State, call: &Call, id: &str) -> Vec<Value> {
    let found = state
        .store
        .list(&call.scope, PAYMENT, None)
        .filter(|record| text(&record.value, "invoice") == id);
    let mut payments: Vec<Value> = found.map(|record| record.value.clone()).collect();
    payments.reverse();
    payments
}

/// `POST /v1/invoices`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let params = &call.params;
    let customer = params.required("customer")?;
    state.find(&call.scope, "customer", customer)?;
    let is_included = params.choice("pending_invoice_items_behavior", &["exclude", "include"])? == "include";
    let items = if is_included {
        take_items(state, call, customer)
    } else {
        Vec::new()
    };
    let now = state.now();
    let currency = items
        .first()
        .map_or("usd", |item| text(item, "currency"))
        .to_owned();
    let draft = Draft {
        customer,
        reason: "manual",
        lines: items.iter().map(line_of_item).collect(),
        currency: &currency,
        subscription: None,
        period: (now, now),
        metadata: merge_metadata(&json!({}), params.get("metadata")),
        description: params.value("description"),
        is_automatic: false,
    };
    let invoice = create_draft(state, call, &draft);
    assign_items(state, call, &items, text(&invoice, "id"));
    Ok(invoice)
}

/// `POST /v1/invoices/{id}`
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, KIND, id)?;
    let mut changes =
        json!({ "metadata": merge_metadata(&current["metadata"], call.params.get("metadata")) });
    if call.params.has("description") {
        changes["description"] = call.params.value("description");
    }
    Ok(state.update(call, id, &changes, Some("invoice.updated")))
}

/// `POST /v1/invoices/{id}/finalize`
pub(crate) fn finalize_request(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    expect_status(state.find(&call.scope, KIND, id)?, &["draft"])?;
    Ok(finalize(state, call, id))
}

/// `POST /v1/invoices/{id}/send`
pub(crate) fn send(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    expect_status(state.find(&call.scope, KIND, id)?, &["draft", "open"])?;
    let invoice = finalize(state, call, id);
    state.emit(call, "invoice.sent", &invoice, None);
    Ok(invoice)
}

/// `POST /v1/invoices/{id}/void` and `POST /v1/invoices/{id}/mark_uncollectible`
pub(crate) fn abandon_request(state: &mut State, call: &Call, id: &str, status: &str) -> Result<Value> {
    expect_status(state.find(&call.scope, KIND, id)?, &["open", "uncollectible"])?;
    Ok(abandon(state, call, id, status))
}

/// `DELETE /v1/invoices/{id}`
pub(crate) fn delete(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let invoice = state.find(&call.scope, KIND, id)?.clone();
    expect_status(&invoice, &["draft"])?;
    state.store.remove(id);
    state.emit(call, "invoice.deleted", &invoice, None);
    Ok(json!({ "id": id, "object": KIND, "deleted": true }))
}

fn expect_status(invoice: &Value, allowed: &[&str]) -> Result<()> {
    let status = text(invoice, "status");
    if allowed.contains(&status) {
        return Ok(());
    }
    let message = format!(
        "The invoice {} has the status {status}, which does not allow this.",
        text(invoice, "id")
    );
    Err(ApiError::invalid(message).with("code", "invoice_not_editable"))
}

/// Returns the payment method that a request to pay names, if the invoice can be paid.
pub(crate) fn check_payable(state: &mut State, call: &Call, id: &str) -> Result<Option<String>> {
    let invoice = state.find(&call.scope, KIND, id)?;
    if text(invoice, "status") == "paid" {
        return Err(ApiError::invalid("Invoice is already paid").with("code", "invoice_already_paid"));
    }
    expect_status(invoice, &["draft", "open", "uncollectible"])?;
    let method = call.params.text("payment_method").map(str::to_owned);
    method
        .map(|method| payment_methods::resolve(state, call, &method))
        .transpose()
}

/// `GET /v1/invoices/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/invoices`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    let wanted = call.params.text("subscription");
    let filters = &["customer", "status", "collection_method"];
    let others = &["subscription"];
    lists::list_where(state, call, (KIND, "/v1/invoices"), filters, others, |invoice| {
        wanted.is_none() || subscription_of(invoice).as_deref() == wanted
    })
}

/// `GET /v1/invoice_payments`
pub(crate) fn list_payments(state: &State, call: &Call) -> Result<Value> {
    let payment = call.params.nested("payment");
    let wanted = payment.text("payment_intent");
    let filters = &["invoice", "status"];
    let list = (PAYMENT, "/v1/invoice_payments");
    lists::list_where(state, call, list, filters, &["payment"], |payment| {
        wanted.is_none() || maybe_text(&payment["payment"], "payment_intent") == wanted
    })
}
