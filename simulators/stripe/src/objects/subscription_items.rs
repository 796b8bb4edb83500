//! The items of subscriptions: their prices, their periods, and changes of the amount.

use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{number, text};
use crate::objects::catalog;
use crate::objects::invoice_items::{self, Line};
use crate::state::{Call, State};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde_json::{Value, json};

const SUBSCRIPTION: &str = "subscription";

/// Returns the end of the period after `count` intervals. Months end on the day of the anchor, or on their last day.
fn add_intervals(anchor: i64, interval: &str, count: i64) -> i64 {
    let start = Timestamp::from_second(anchor)
        .unwrap_or_default()
        .to_zoned(TimeZone::UTC);
    let span = match interval {
        "day" => Span::new().days(count),
        "week" => Span::new().weeks(count),
        "year" => Span::new().years(count),
        _ => Span::new().months(count),
    };
    start
        .checked_add(span)
        .map_or(i64::MAX, |end| end.timestamp().as_second())
}

/// Returns the first end of a period after a time.
pub(crate) fn period_end(anchor: i64, price: &Value, after: i64) -> i64 {
    let interval = text(&price["recurring"], "interval");
    let step = number(&price["recurring"], "interval_count").max(1);
    let mut count = step;
    loop {
        let end = add_intervals(anchor, interval, count);
        if end > after {
            return end;
        }
        count += step;
    }
}

pub(crate) fn show_item(
    subscription: &str,
    price: &Value,
    quantity: i64,
    now: i64,
    period: (i64, i64),
) -> Value {
    json!({
        "id": new_id("si"),
        "object": "subscription_item",
        "billing_thresholds": null,
        "created": now,
        "current_period_end": period.1,
        "current_period_start": period.0,
        "current_trial": null,
        "discounts": [],
        "metadata": {},
        "plan": catalog::plan(price),
        "price": price,
        "quantity": quantity,
        "subscription": subscription,
        "tax_rates": [],
    })
}

pub(crate) fn items_of(subscription: &Value) -> Vec<Value> {
    subscription["items"]["data"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

pub(crate) fn set_items(subscription: &Value, items: Vec<Value>) -> Value {
    let mut list = subscription["items"].clone();
    list["data"] = Value::Array(items);
    list
}

pub(crate) fn line_of(state: &State, subscription: &str, item: &Value, is_trial: bool) -> Line {
    let price = &item["price"];
    let quantity = number(item, "quantity");
    let amount = if is_trial {
        0
    } else {
        number(price, "unit_amount") * quantity
    };
    let product = state.object(text(price, "product"));
    let interval = text(&price["recurring"], "interval");
    let cents = number(price, "unit_amount");
    Line {
        amount,
        description: format!(
            "{quantity} × {} (at ${}.{:02} / {interval})",
            text(&product, "name"),
            cents / 100,
            cents % 100
        ),
        price: price.clone(),
        quantity,
        period: (
            number(item, "current_period_start"),
            number(item, "current_period_end"),
        ),
        parent: json!({
            "invoice_item_details": null,
            "subscription_item_details": {
                "invoice_item": null,
                "proration": false,
                "proration_details": null,
                "subscription": subscription,
                "subscription_item": item["id"],
            },
            "type": "subscription_item_details",
        }),
    }
}

/// Changes prices and quantities. Unless `proration_behavior` is `none`, the next invoice includes the difference for the
/// rest of the period.
pub(crate) fn change_items(state: &mut State, call: &Call, subscription: &Value) -> Result<Value> {
    let params = &call.params;
    let proration = params.choice(
        "proration_behavior",
        &["create_prorations", "none", "always_invoice"],
    )?;
    let mut items = items_of(subscription);
    let total = |items: &[Value]| -> i64 {
        items
            .iter()
            .map(|item| number(&item["price"], "unit_amount") * number(item, "quantity"))
            .sum()
    };
    let before = total(&items);
    for element in params.elements("items") {
        let position = match element.text("id") {
            Some(id) => {
                let position = items.iter().position(|item| text(item, "id") == id);
                position.ok_or_else(|| ApiError::no_such("subscription_item", id))?
            }
            None => items.len(),
        };
        if element.flag("deleted") == Some(true) {
            items.remove(position);
            continue;
        }
        if position == items.len() {
            let price = catalog::price_of_item(state, call, &element, false)?;
            let period = (
                number(&items[0], "current_period_start"),
                number(&items[0], "current_period_end"),
            );
            items.push(show_item(
                text(subscription, "id"),
                &price,
                1,
                state.now(),
                period,
            ));
        } else if element.has("price") || element.has("price_data") {
            let price = catalog::price_of_item(state, call, &element, false)?;
            items[position]["plan"] = catalog::plan(&price);
            items[position]["price"] = price;
        }
        if let Some(quantity) = element.integer("quantity")? {
            items[position]["quantity"] = quantity.into();
        }
    }
    let (start, end) = (
        number(&items[0], "current_period_start"),
        number(&items[0], "current_period_end"),
    );
    let difference = total(&items) - before;
    if proration != "none" && difference != 0 && end > start {
        let amount = difference * (end - state.now()) / (end - start);
        let fields = json!({
            "currency": subscription["currency"],
            "description": "Difference for the rest of the period",
            "proration": true,
            "parent": {
                "subscription_details": {"subscription": subscription["id"], "subscription_item": items[0]["id"]},
                "type": "subscription_details",
            },
        });
        invoice_items::add_item(state, call, text(subscription, "customer"), amount, &fields);
    }
    Ok(set_items(subscription, items))
}

/// Returns the subscription that has an item.
pub(crate) fn subscription_with(state: &State, call: &Call, item: &str) -> Result<Value> {
    let mut subscriptions = state
        .store
        .list(&call.scope, SUBSCRIPTION, None)
        .map(|record| &record.value);
    let found = subscriptions.find(|value| items_of(value).iter().any(|each| text(each, "id") == item));
    found
        .cloned()
        .ok_or_else(|| ApiError::no_such("subscription_item", item))
}

pub(crate) fn item_with(subscription: &Value, id: &str) -> Value {
    let mut items = items_of(subscription).into_iter();
    items.find(|item| text(item, "id") == id).unwrap_or_default()
}

/// `GET /v1/subscription_items`
pub(crate) fn list_items(state: &State, call: &Call) -> Result<Value> {
    let id = call.params.required("subscription")?;
    Ok(state.find(&call.scope, SUBSCRIPTION, id)?["items"].clone())
}

/// `GET /v1/subscription_items/{id}`
pub(crate) fn retrieve_item(state: &State, call: &Call, id: &str) -> Result<Value> {
    Ok(item_with(&subscription_with(state, call, id)?, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_that_is_too_short_does_not_move_later_months() {
        // January 31, 2026, 12:00 UTC.
        let anchor = 1_769_860_800;
        let price = json!({ "recurring": {"interval": "month", "interval_count": 1} });
        let february = period_end(anchor, &price, anchor);
        let march = period_end(anchor, &price, february);
        assert_eq!(
            Timestamp::from_second(february).unwrap().to_string(),
            "2026-02-28T12:00:00Z"
        );
        assert_eq!(
            Timestamp::from_second(march).unwrap().to_string(),
            "2026-03-31T12:00:00Z"
        );
    }
}
