//! The documentation of the interface for people, made from the same description that programs read.

use crate::app::App;
use crate::server::routes::described;
use crate::web::{Frame, Meta, Place, PublicPage};
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::sync::LazyLock;

/// One route of the interface.
#[derive(Debug)]
struct Operation {
    id: String,
    method: String,
    path: String,
    summary: String,
    description: String,
    parameters: Vec<Parameter>,
    /// Status and what it means.
    answers: Vec<(String, String)>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    place: String,
    is_required: bool,
    description: String,
}

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let (_, description) = described();
    read(&serde_json::to_value(description).unwrap_or_default())
});

#[derive(Template)]
#[template(path = "web/developers.html")]
struct Developers {
    frame: Frame,
    meta: Meta,
    base: String,
    operations: &'static [Operation],
}

/// `GET /developers`
pub async fn developers(State(app): State<App>) -> Response {
    let frame = Frame::new(Place::Developers);
    let texts = &frame.p.developers;
    let page = Developers {
        meta: Meta::new(&frame, texts.title, texts.lead, app.urls.page("/developers")),
        base: app.urls.public().to_owned(),
        operations: &OPERATIONS,
        frame,
    };
    PublicPage(page).into_response()
}

fn read(description: &Value) -> Vec<Operation> {
    let paths = description["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, told)| operation(path, method, told))
    });
    operations.collect()
}

fn operation(path: &str, method: &str, told: &Value) -> Operation {
    let parameters = told["parameters"].as_array().into_iter().flatten();
    let answers = told["responses"].as_object().into_iter().flatten();
    Operation {
        id: text(&told["operationId"]),
        method: method.to_ascii_uppercase(),
        path: path.to_owned(),
        summary: text(&told["summary"]),
        description: text(&told["description"]),
        parameters: parameters
            .map(|told| Parameter {
                name: text(&told["name"]),
                place: text(&told["in"]),
                is_required: told["required"].as_bool().unwrap_or_default(),
                description: text(&told["description"]),
            })
            .collect(),
        answers: answers
            .map(|(status, told)| (status.clone(), text(&told["description"])))
            .collect(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_of_the_interface_is_told_with_its_answers() {
        assert!(OPERATIONS.len() >= 7);
        for operation in OPERATIONS.iter() {
            assert!(
                !operation.summary.is_empty() && !operation.answers.is_empty(),
                "{operation:?}"
            );
        }
    }
}
