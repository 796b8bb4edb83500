//! Lists with cursors: `limit`, `starting_after`, `ending_before` and ranges of `created`.

use crate::error::Result;
use crate::json::{number, text};
use crate::params::Params;
use crate::state::{Call, State};
use serde_json::{Value, json};

/// A range of times in seconds.
#[derive(Default)]
pub(crate) struct Range {
    from: Option<i64>,
    to: Option<i64>,
}

impl Range {
    fn read(params: &Params, field: &str) -> Result<Range> {
        if let Some(range) = params.maybe_nested(field) {
            let from = range
                .integer("gte")?
                .or(range.integer("gt")?.map(|time| time + 1));
            let to = range
                .integer("lte")?
                .or(range.integer("lt")?.map(|time| time - 1));
            return Ok(Range { from, to });
        }
        let exact = params.integer(field)?;
        Ok(Range {
            from: exact,
            to: exact,
        })
    }

    pub(crate) fn contains(&self, time: i64) -> bool {
        self.from.is_none_or(|from| time >= from) && self.to.is_none_or(|to| time <= to)
    }
}

const PARAMS: &[&str] = &[
    "created",
    "ending_before",
    "expand",
    "limit",
    "starting_after",
    "types",
];

/// The parameters that all lists have.
pub(crate) struct ListParams {
    pub(crate) limit: usize,
    pub(crate) starting_after: Option<String>,
    pub(crate) ending_before: Option<String>,
    pub(crate) created: Range,
}

impl ListParams {
    /// Reads the parameters. A filter that the list does not have is refused, because ignoring it would show too much.
    pub(crate) fn read(params: &Params, filters: &[&str]) -> Result<ListParams> {
        params.allow(&[PARAMS, filters].concat())?;
        let limit = params.integer("limit")?.unwrap_or(10);
        if !(1..=100).contains(&limit) {
            return Err(params.error("limit", "This value must be between 1 and 100."));
        }
        Ok(ListParams {
            limit: limit as usize,
            starting_after: params.text("starting_after").map(str::to_owned),
            ending_before: params.text("ending_before").map(str::to_owned),
            created: Range::read(params, "created")?,
        })
    }
}

/// Takes one page from everything that follows a cursor. With `ending_before`, a page ends right before its object.
pub(crate) fn page(found: impl Iterator<Item = Value>, params: &ListParams, url: &str) -> Value {
    let limit = params.limit;
    let (data, has_more) = if params.ending_before.is_some() {
        let mut all: Vec<Value> = found.collect();
        let data = all.split_off(all.len().saturating_sub(limit));
        (data, !all.is_empty())
    } else {
        let mut data: Vec<Value> = found.take(limit + 1).collect();
        let has_more = data.len() > limit;
        data.truncate(limit);
        (data, has_more)
    };
    json!({ "object": "list", "data": data, "has_more": has_more, "url": url })
}

/// Lists the objects of a kind whose fields equal the parameters of the same names.
pub(crate) fn list(state: &State, call: &Call, kind: &str, url: &str, filters: &[&str]) -> Result<Value> {
    list_where(state, call, (kind, url), filters, &[], |_| true)
}

/// Lists the objects of a kind like [`list`], if they also pass a test, which reads other parameters.
pub(crate) fn list_where(
    state: &State,
    call: &Call,
    (kind, url): (&str, &str),
    filters: &[&str],
    others: &[&str],
    is_wanted: impl Fn(&Value) -> bool,
) -> Result<Value> {
    let params = ListParams::read(&call.params, &[filters, others].concat())?;
    for cursor in [&params.starting_after, &params.ending_before]
        .into_iter()
        .flatten()
    {
        state.find(&call.scope, kind, cursor)?;
    }
    let filters: Vec<(&str, &str)> = filters
        .iter()
        .filter_map(|field| Some((*field, call.params.text(field)?)))
        .collect();
    let types = call.params.texts("types");
    let before = params.ending_before.as_deref();
    let found = state
        .store
        .list(&call.scope, kind, params.starting_after.as_deref())
        .map(|record| &record.value)
        .take_while(|value| before != Some(text(value, "id")))
        .filter(|value| params.created.contains(number(value, "created")))
        .filter(|value| types.is_empty() || types.iter().any(|kind| kind == text(value, "type")))
        .filter(|value| {
            filters
                .iter()
                .all(|(field, wanted)| is_equal(&value[*field], wanted))
        })
        .filter(|value| is_wanted(value))
        .cloned();
    Ok(page(found, &params, url))
}

fn is_equal(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Bool(flag) => flag.to_string() == wanted,
        _ => false,
    }
}
