//! The API documentation, generated from the OpenAPI description.

use crate::app::App;
use crate::web::{Layout, Meta, PublicPage, Section};
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;
use std::sync::Arc;
use utoipa::openapi::OpenApi;

/// An operation of the API.
#[derive(Debug)]
struct Operation {
    id: String,
    method: String,
    path: String,
    summary: String,
    description: String,
    parameters: Vec<Parameter>,
    /// Status codes and their descriptions.
    responses: Vec<(String, String)>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    location: String,
    is_required: bool,
    description: String,
}

#[derive(Template)]
#[template(path = "site/developers.html")]
struct Developers {
    layout: Layout,
    meta: Meta,
    base: String,
    operations: Arc<[Operation]>,
}

/// Returns the route of the API documentation.
pub fn routes(description: &OpenApi) -> Router<App> {
    let operations = read(&serde_json::to_value(description).unwrap_or_default());
    let developers = async move |State(app): State<App>| developers(&app, operations);
    Router::new().route("/developers", get(developers))
}

/// `GET /developers`
fn developers(app: &App, operations: Arc<[Operation]>) -> Response {
    let layout = Layout::new(Section::Developers);
    let texts = &layout.p.developers;
    let page = Developers {
        meta: Meta::new(&layout, texts.title, texts.lead, app.urls.page("/developers")),
        base: app.urls.public().to_owned(),
        operations,
        layout,
    };
    PublicPage(page).into_response()
}

fn read(description: &Value) -> Arc<[Operation]> {
    let paths = description["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, description)| operation(path, method, description))
    });
    operations.collect()
}

fn operation(path: &str, method: &str, description: &Value) -> Operation {
    let parameters = description["parameters"].as_array().into_iter().flatten();
    let responses = description["responses"].as_object().into_iter().flatten();
    Operation {
        id: text(&description["operationId"]),
        method: method.to_ascii_uppercase(),
        path: path.to_owned(),
        summary: text(&description["summary"]),
        description: text(&description["description"]),
        parameters: parameters
            .map(|parameter| Parameter {
                name: text(&parameter["name"]),
                location: text(&parameter["in"]),
                is_required: parameter["required"].as_bool().unwrap_or_default(),
                description: text(&parameter["description"]),
            })
            .collect(),
        responses: responses
            .map(|(status, response)| (status.clone(), text(&response["description"])))
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
    fn every_operation_has_a_summary_and_responses() {
        let description = include_str!("../../openapi.json");
        let operations = read(&serde_json::from_str(description).unwrap());
        assert!(operations.len() >= 7);
        for operation in operations.iter() {
            assert!(
                !operation.summary.is_empty() && !operation.responses.is_empty(),
                "{operation:?}"
            );
        }
    }
}
