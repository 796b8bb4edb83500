//! The documentation of the interface for people, made from the same description that programs read.

use crate::app::App;
use crate::web::{Frame, Meta, Place, PublicPage};
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;
use std::sync::Arc;
use utoipa::openapi::OpenApi;

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

#[derive(Template)]
#[template(path = "site/developers.html")]
struct Developers {
    frame: Frame,
    meta: Meta,
    base: String,
    operations: Arc<[Operation]>,
}

/// Returns the route of the documentation of the API that `description` describes.
pub fn routes(description: &OpenApi) -> Router<App> {
    let operations = read(&serde_json::to_value(description).unwrap_or_default());
    let developers = async move |State(app): State<App>| developers(&app, operations);
    Router::new().route("/developers", get(developers))
}

/// `GET /developers`
fn developers(app: &App, operations: Arc<[Operation]>) -> Response {
    let frame = Frame::new(Place::Developers);
    let texts = &frame.p.developers;
    let page = Developers {
        meta: Meta::new(&frame, texts.title, texts.lead, app.urls.page("/developers")),
        base: app.urls.public().to_owned(),
        operations,
        frame,
    };
    PublicPage(page).into_response()
}

fn read(description: &Value) -> Arc<[Operation]> {
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
        let description = include_str!("../../openapi.json");
        let operations = read(&serde_json::from_str(description).unwrap());
        assert!(operations.len() >= 7);
        for operation in operations.iter() {
            assert!(
                !operation.summary.is_empty() && !operation.answers.is_empty(),
                "{operation:?}"
            );
        }
    }
}
