//! The reference of the API, read from its OpenAPI description, and the requests that its console builds.

use super::markdown::{Heading, render_text};
use super::samples::SERVER;
use super::schema::{self, Field};
use crate::http::params::RESERVED;
use crate::web::texts::{DEVELOPERS_EN, Reference};
use percent_encoding::utf8_percent_encode;
use serde_json::Value;

/// The operations that most people need first, in the order of the menu. The others follow.
const ORDER: [&str; 11] = [
    "details",
    "search",
    "browse",
    "causes",
    "fundraiser",
    "raised",
    "create",
    "fundraisers",
    "createWebhook",
    "events",
    "donations",
];
const TEXTS: &Reference = &DEVELOPERS_EN.reference;

/// A group of operations.
#[derive(Debug)]
pub(super) struct Tag {
    pub name: String,
    pub description: String,
}

/// An operation of the API.
#[derive(Debug)]
pub(super) struct Operation {
    pub id: String,
    pub method: String,
    pub path: String,
    pub tag: String,
    pub title: String,
    /// The first sentence of the description, without markup.
    pub summary: String,
    /// HTML.
    pub description: String,
    pub needs_private_key: bool,
    pub parameters: Vec<Parameter>,
    pub body: Vec<Field>,
    /// A body to start from.
    pub body_example: Option<String>,
    /// The fields of a successful response.
    pub fields: Vec<Field>,
    pub example: Option<String>,
    pub responses: Vec<ResponseView>,
    pub headings: Vec<Heading>,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub name: String,
    /// `path`, `query` or `header`.
    pub place: String,
    pub is_required: bool,
    pub kind: String,
    /// HTML.
    pub about: String,
    options: Vec<String>,
    example: String,
}

/// A status with the codes of its errors.
#[derive(Debug)]
pub(super) struct ResponseView {
    pub status: String,
    pub description: String,
    pub codes: Vec<String>,
}

/// A parameter in the form of the console.
#[derive(Debug)]
pub(super) struct Input {
    pub name: String,
    pub place: String,
    pub is_required: bool,
    pub options: Vec<String>,
    pub value: String,
}

/// Reads the tags and operations of a description, in the order of the tags. Its examples are shown with `public_url`.
pub(super) fn read(description: &Value, public_url: &str) -> (Vec<Tag>, Vec<Operation>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tags = description["tags"].as_array().into_iter().flatten();
    let tags: Vec<Tag> = tags
        .map(|tag| Tag {
            name: text(&tag["name"]),
            description: text(&tag["description"]),
        })
        .collect();
    let paths = description["paths"].as_object().into_iter().flatten();
    let mut operations: Vec<Operation> = paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, value)| Operation::read(path, method, value, description, public_url))
        })
        .collect();
    operations.sort_by_key(|operation| {
        let tag = tags.iter().position(|tag| tag.name == operation.tag);
        let place = ORDER.iter().position(|id| *id == operation.id);
        (tag.unwrap_or(usize::MAX), place.unwrap_or(usize::MAX))
    });
    (tags, operations)
}

impl Operation {
    fn read(path: &str, method: &str, value: &Value, root: &Value, public_url: &str) -> Operation {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let parameters = value["parameters"].as_array().into_iter().flatten();
        let description = text(&value["description"]);
        let schemes = value["security"].as_array().into_iter().flatten();
        let body = &value["requestBody"]["content"]["application/json"];
        let success = &value["responses"]["200"]["content"]["application/json"];
        let example = |content: &Value| {
            let example = content.get("example")?;
            let text = serde_json::to_string_pretty(example).ok()?;
            Some(text.replace(SERVER, public_url))
        };
        let mut operation = Operation {
            id: text(&value["operationId"]),
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            tag: text(&value["tags"][0]),
            title: text(&value["summary"]),
            summary: description.lines().next().unwrap_or_default().to_owned(),
            description: render_text(&description),
            needs_private_key: schemes
                .into_iter()
                .any(|scheme| scheme.get("privateKey").is_some()),
            parameters: parameters.map(|value| Parameter::read(value, root)).collect(),
            body: schema::fields(&body["schema"], root),
            body_example: example(body),
            fields: schema::fields(&success["schema"], root),
            example: example(success),
            responses: responses(value),
            headings: Vec::new(),
        };
        operation.headings = operation.headings();
        operation
    }

    /// Returns the path of its page.
    pub(super) fn page(&self) -> String {
        format!("/developers/reference/{}", self.id)
    }

    fn headings(&self) -> Vec<Heading> {
        let heading = |id: &str, text: &str, is_shown: bool| {
            is_shown.then(|| Heading {
                id: id.to_owned(),
                text: text.to_owned(),
                is_minor: false,
            })
        };
        [
            heading("try-it", TEXTS.try_it, true),
            heading("sample", TEXTS.sample, true),
            heading("parameters", TEXTS.parameters, !self.parameters.is_empty()),
            heading("body", TEXTS.body, !self.body.is_empty()),
            heading("example", TEXTS.example, self.example.is_some()),
            heading("fields", TEXTS.fields, !self.fields.is_empty()),
            heading("responses", TEXTS.responses, true),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the text in which the search looks: the path, parameters and fields.
    pub(super) fn searchable(&self) -> String {
        let fields = self
            .body
            .iter()
            .chain(&self.fields)
            .map(|field| field.name.as_str());
        let parameters = self.parameters.iter().map(|parameter| parameter.name.as_str());
        let words: Vec<&str> = parameters.chain(fields).collect();
        format!(
            "{} {} {} {}",
            self.method,
            self.path,
            self.summary,
            words.join(" ")
        )
    }

    pub(super) fn is_write(&self) -> bool {
        self.method != "GET"
    }

    /// Returns the fields of the console, with the values that were sent or else the examples.
    pub(super) fn inputs(&self, sent: &[(String, String)]) -> Vec<Input> {
        let input = |parameter: &Parameter| {
            let value = sent.iter().find(|(name, _)| *name == parameter.name);
            let initial = match parameter.name.as_str() {
                "dryRun" => "1",
                _ if parameter.is_required => parameter.example.as_str(),
                _ => "",
            };
            Input {
                name: parameter.name.clone(),
                place: parameter.place.clone(),
                is_required: parameter.is_required,
                options: parameter.options.clone(),
                value: value.map_or(initial, |(_, value)| value).to_owned(),
            }
        };
        self.parameters.iter().map(input).collect()
    }

    /// Returns the path and query of the request that `inputs` describe.
    pub(super) fn request(&self, inputs: &[Input], public_key: &str) -> String {
        let encode = |text: &str| utf8_percent_encode(text, RESERVED).to_string();
        let mut path = self.path.clone();
        let mut query = Vec::new();
        for input in inputs {
            match input.place.as_str() {
                "path" => path = path.replace(&format!("{{{}}}", input.name), &encode(&input.value)),
                "query" if !input.value.is_empty() => {
                    query.push(format!("{}={}", encode(&input.name), encode(&input.value)));
                }
                _ => {}
            }
        }
        if !self.needs_private_key {
            query.push(format!("apiKey={}", encode(public_key)));
        }
        if query.is_empty() {
            path
        } else {
            format!("{path}?{}", query.join("&"))
        }
    }
}

impl Parameter {
    fn read(value: &Value, root: &Value) -> Parameter {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let schema = schema::resolve(&value["schema"], root);
        let options = schema["enum"].as_array().into_iter().flatten();
        Parameter {
            name: text(&value["name"]),
            place: text(&value["in"]),
            is_required: value["required"].as_bool().unwrap_or_default(),
            kind: schema::describe(&value["schema"], root),
            about: render_text(value["description"].as_str().unwrap_or_default()),
            options: options.map(text).collect(),
            example: text(&value["example"]),
        }
    }

    /// Returns where the parameter is sent.
    pub(super) fn place_text(&self) -> &'static str {
        match self.place.as_str() {
            "path" => TEXTS.in_path,
            "header" => TEXTS.in_header,
            _ => TEXTS.in_query,
        }
    }
}

fn responses(operation: &Value) -> Vec<ResponseView> {
    let responses = operation["responses"].as_object().into_iter().flatten();
    let response = |(status, value): (&String, &Value)| {
        let examples = &value["content"]["application/problem+json"]["examples"];
        ResponseView {
            status: status.clone(),
            description: value["description"].as_str().unwrap_or_default().to_owned(),
            codes: examples
                .as_object()
                .into_iter()
                .flatten()
                .map(|(code, _)| code.clone())
                .collect(),
        }
    };
    responses.map(response).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description() -> Value {
        serde_json::from_str(include_str!("../../../openapi.json")).unwrap()
    }

    #[test]
    fn every_operation_has_a_title_a_description_an_example_and_errors_with_codes() {
        let (tags, operations) = read(&description(), "https://give.example.org");
        assert!(operations.len() >= 13);
        for operation in &operations {
            assert!(
                tags.iter()
                    .any(|tag| tag.name == operation.tag && !tag.description.is_empty()),
                "{operation:?}"
            );
            assert!(
                !operation.title.is_empty() && operation.title.len() < 40 && !operation.summary.is_empty(),
                "{operation:?}"
            );
            // An export is not one JSON value, and 204 is an empty response.
            let is_empty = operation
                .responses
                .iter()
                .any(|response| response.status == "204");
            let is_json = operation.id != "export" && !is_empty;
            assert!(
                !is_json || (operation.example.is_some() && !operation.fields.is_empty()),
                "{operation:?}"
            );
            let has_codes = |status: &str| {
                let response = operation
                    .responses
                    .iter()
                    .find(|response| response.status == status);
                response.is_some_and(|response| !response.codes.is_empty())
            };
            assert!(has_codes("401") && has_codes("429"), "{operation:?}");
        }
    }

    #[test]
    fn the_console_builds_the_url_of_a_request() {
        let (_, operations) = read(&description(), "https://give.example.org");
        let search = operations
            .iter()
            .find(|operation| operation.id == "search")
            .unwrap();
        let sent = [
            ("searchTerm".to_owned(), "red/cross & co".to_owned()),
            ("take".to_owned(), "5".to_owned()),
        ];
        let inputs = search.inputs(&sent);
        assert_eq!(
            search.request(&inputs, "cwpk_x"),
            "/v0.2/search/red%2Fcross%20%26%20co?take=5&apiKey=cwpk_x"
        );
        let create = operations
            .iter()
            .find(|operation| operation.id == "create")
            .unwrap();
        assert!(create.needs_private_key && create.body_example.is_some());
        assert_eq!(
            create.request(&create.inputs(&[]), "cwpk_x"),
            "/v0.2/fundraiser?dryRun=1"
        );
    }
}
