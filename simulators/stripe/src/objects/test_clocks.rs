//! Test clocks: the time of a customer and of everything that belongs to it.

use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::jobs;
use crate::json::{number, text};
use crate::lists;
use crate::state::{Call, DAY, State};
use serde_json::{Value, json};

const KIND: &str = "test_helpers.test_clock";

/// `POST /v1/test_helpers/test_clocks`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let time = call.params.required_integer("frozen_time")?;
    if call.scope.livemode {
        return Err(ApiError::invalid("Test clocks exist only in test mode."));
    }
    let now = state.now();
    let value = json!({
        "id": new_id("clock"),
        "object": KIND,
        "created": now,
        "deletes_after": now + 30 * DAY,
        "frozen_time": time,
        "livemode": false,
        "name": call.params.value("name"),
        "status": "ready",
        "status_details": {},
    });
    Ok(state.create(call, value, Value::Null, Some("test_helpers.test_clock.created")))
}

/// `POST /v1/test_helpers/test_clocks/{id}/advance`
pub(crate) fn advance(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let clock = state.find(&call.scope, KIND, id)?;
    let time = call.params.required_integer("frozen_time")?;
    if time <= number(clock, "frozen_time") {
        return Err(call.params.error(
            "frozen_time",
            "A test clock can only be advanced to a later time.",
        ));
    }
    let changes = json!({
        "status": "advancing",
        "status_details": {"advancing": {"target_frozen_time": time}},
    });
    let advancing = state.update(call, id, &changes, Some("test_helpers.test_clock.advancing"));
    jobs::run_clock(state, id, time * 1_000);
    let changes = json!({ "frozen_time": time, "status": "ready", "status_details": {} });
    state.update(call, id, &changes, Some("test_helpers.test_clock.ready"));
    Ok(advancing)
}

/// `DELETE /v1/test_helpers/test_clocks/{id}`
pub(crate) fn delete(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let clock = state.find(&call.scope, KIND, id)?.clone();
    for kind in ["customer", "subscription"] {
        let found = state
            .store
            .list(&call.scope, kind, None)
            .filter(|record| text(&record.value, "test_clock") == id);
        let ids: Vec<String> = found.map(|record| text(&record.value, "id").to_owned()).collect();
        for id in &ids {
            state.store.remove(id);
        }
    }
    state.store.remove(id);
    state.emit(call, "test_helpers.test_clock.deleted", &clock, None);
    Ok(json!({ "id": id, "object": KIND, "deleted": true }))
}

/// `GET /v1/test_helpers/test_clocks/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/test_helpers/test_clocks`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    lists::list(state, call, KIND, "/v1/test_helpers/test_clocks", &[])
}
