//! Products and prices, also those that `price_data` creates.

use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{merge_metadata, number, text};
use crate::lists;
use crate::params::Params;
use crate::state::{Call, State};
use serde_json::{Value, json};

const PRODUCT: &str = "product";
const PRICE: &str = "price";
const INTERVALS: &[&str] = &["month", "day", "week", "year"];

fn insert_product(state: &mut State, call: &Call, params: &Params) -> Result<Value> {
    let name = params.required("name")?;
    let now = state.now();
    let value = json!({
        "id": params.text("id").map_or_else(|| new_id("prod"), str::to_owned),
        "object": PRODUCT,
        "active": params.flag("active").unwrap_or(true),
        "created": now,
        "default_price": null,
        "description": params.value("description"),
        "images": params.texts("images"),
        "livemode": call.scope.livemode,
        "marketing_features": [],
        "metadata": merge_metadata(&json!({}), params.get("metadata")),
        "name": name,
        "package_dimensions": null,
        "shippable": null,
        "statement_descriptor": null,
        "tax_code": null,
        "tax_details": null,
        "type": "service",
        "unit_label": null,
        "updated": now,
        "url": null,
    });
    Ok(state.create(call, value, Value::Null, Some("product.created")))
}

/// `POST /v1/products`
pub(crate) fn create_product(state: &mut State, call: &Call) -> Result<Value> {
    insert_product(state, call, &call.params)
}

/// `POST /v1/products/{id}`
pub(crate) fn update_product(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, PRODUCT, id)?;
    let mut changes =
        json!({ "metadata": merge_metadata(&current["metadata"], call.params.get("metadata")) });
    for field in ["name", "description"]
        .into_iter()
        .filter(|field| call.params.has(field))
    {
        changes[field] = call.params.value(field);
    }
    if let Some(active) = call.params.flag("active") {
        changes["active"] = active.into();
    }
    changes["updated"] = state.now().into();
    Ok(state.update(call, id, &changes, Some("product.updated")))
}

/// `DELETE /v1/products/{id}`
pub(crate) fn delete_product(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let product = state.find(&call.scope, PRODUCT, id)?.clone();
    if state
        .store
        .list(&call.scope, PRICE, None)
        .any(|record| text(&record.value, "product") == id)
    {
        let message = "This product cannot be deleted because it has one or more user-created prices.";
        return Err(ApiError::invalid(message));
    }
    state.store.remove(id);
    state.emit(call, "product.deleted", &product, None);
    Ok(json!({ "id": id, "object": PRODUCT, "deleted": true }))
}

/// Creates a price for an existing product, or for one that the parameters describe if `allow_product_data` is set.
pub(crate) fn create_price_from(
    state: &mut State,
    call: &Call,
    params: &Params,
    allow_product_data: bool,
) -> Result<Value> {
    let currency = params.required("currency")?.to_lowercase();
    let amount = params.required_integer("unit_amount")?;
    if amount < 0 {
        return Err(params.error("unit_amount", "This value must be greater than or equal to 0."));
    }
    let recurring = match params.maybe_nested("recurring") {
        None => Value::Null,
        Some(recurring) => {
            recurring.required("interval")?;
            json!({
                "interval": recurring.choice("interval", INTERVALS)?,
                "interval_count": recurring.integer("interval_count")?.unwrap_or(1),
                "meter": null,
                "trial_period_days": null,
                "usage_type": "licensed",
            })
        }
    };
    let product = match (params.text("product"), params.maybe_nested("product_data")) {
        (Some(product), _) => {
            state.find(&call.scope, PRODUCT, product)?;
            product.to_owned()
        }
        (None, Some(data)) if allow_product_data => {
            text(&insert_product(state, call, &data)?, "id").to_owned()
        }
        (None, Some(_)) => {
            return Err(params
                .error("product_data", "Received unknown parameter: product_data")
                .with("code", "parameter_unknown"));
        }
        (None, None) => {
            return Err(params.error("product", "You must specify either `product` or `product_data`."));
        }
    };
    let kind = if recurring.is_null() {
        "one_time"
    } else {
        "recurring"
    };
    let value = json!({
        "id": new_id("price"),
        "object": PRICE,
        "active": true,
        "billing_scheme": "per_unit",
        "created": state.now(),
        "currency": currency,
        "custom_unit_amount": null,
        "livemode": call.scope.livemode,
        "lookup_key": params.value("lookup_key"),
        "metadata": merge_metadata(&json!({}), params.get("metadata")),
        "nickname": params.value("nickname"),
        "product": product,
        "recurring": recurring,
        "tax_behavior": "unspecified",
        "tiers_mode": null,
        "transform_quantity": null,
        "type": kind,
        "unit_amount": amount,
        "unit_amount_decimal": amount.to_string(),
    });
    Ok(state.create(call, value, Value::Null, Some("price.created")))
}

/// Returns the price that an item names, or creates the one that it describes.
pub(crate) fn price_of_item(
    state: &mut State,
    call: &Call,
    item: &Params,
    allow_product_data: bool,
) -> Result<Value> {
    if let Some(price) = item.text("price") {
        return state.find(&call.scope, PRICE, price).cloned();
    }
    match item.maybe_nested("price_data") {
        Some(data) => create_price_from(state, call, &data, allow_product_data),
        None => Err(item.error("price", "You must specify either `price` or `price_data`.")),
    }
}

/// `POST /v1/prices`
pub(crate) fn create_price(state: &mut State, call: &Call) -> Result<Value> {
    create_price_from(state, call, &call.params, true)
}

/// `POST /v1/prices/{id}`
pub(crate) fn update_price(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, PRICE, id)?;
    let metadata = merge_metadata(&current["metadata"], call.params.get("metadata"));
    Ok(state.update(call, id, &json!({ "metadata": metadata }), Some("price.updated")))
}

/// `GET /v1/products/{id}` and `GET /v1/prices/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, kind: &str, id: &str) -> Result<Value> {
    state.find(&call.scope, kind, id).cloned()
}

/// `GET /v1/products` and `GET /v1/prices`
pub(crate) fn list(state: &State, call: &Call, kind: &str) -> Result<Value> {
    let url = format!("/v1/{kind}s");
    lists::list(
        state,
        call,
        kind,
        &url,
        &["active", "product", "type", "currency"],
    )
}

/// Returns the plan that mirrors a recurring price.
pub(crate) fn plan(price: &Value) -> Value {
    json!({
        "id": price["id"],
        "object": "plan",
        "active": true,
        "amount": price["unit_amount"],
        "amount_decimal": price["unit_amount_decimal"],
        "billing_scheme": "per_unit",
        "created": price["created"],
        "currency": price["currency"],
        "interval": price["recurring"]["interval"],
        "interval_count": number(&price["recurring"], "interval_count").max(1),
        "livemode": price["livemode"],
        "metadata": {},
        "meter": null,
        "nickname": price["nickname"],
        "product": price["product"],
        "tiers_mode": null,
        "transform_usage": null,
        "trial_period_days": null,
        "usage_type": "licensed",
    })
}
