//! Routes of the API, with their methods where a document names them.

use crate::markdown::Document;
use crate::repository;
use serde_json::Value;

const PREFIX: &str = "/v0.2/";
const METHODS: [&str; 4] = ["GET", "POST", "PATCH", "DELETE"];

/// The routes in openapi.json: the segments of a path and the methods in upper case.
pub struct Routes(Vec<(Vec<String>, Vec<String>)>);

impl Routes {
    pub fn read() -> Routes {
        Routes::parse(&repository::read("openapi.json"))
    }

    fn parse(description: &str) -> Routes {
        let description: Value = serde_json::from_str(description).expect("openapi.json is JSON");
        let paths = description["paths"].as_object().expect("openapi.json has paths");
        let mut routes: Vec<_> = paths
            .iter()
            .map(|(path, methods)| {
                let methods = methods.as_object().into_iter().flatten();
                (
                    segments(path),
                    methods.map(|(method, _)| method.to_uppercase()).collect(),
                )
            })
            .collect();
        routes.push((segments("/v0.2/openapi.json"), vec!["GET".to_owned()]));
        Routes(routes)
    }

    /// Whether a path exists, with a method if one is given.
    fn has(&self, path: &str, method: Option<&str>) -> bool {
        let sent = segments(path);
        self.0.iter().any(|(segments, methods)| {
            let is_same = |(known, sent): (&String, &String)| known == sent || known.starts_with('{');
            segments.len() == sent.len()
                && segments.iter().zip(&sent).all(is_same)
                && method.is_none_or(|method| methods.iter().any(|known| known == method))
        })
    }
}

fn segments(path: &str) -> Vec<String> {
    path.trim_matches('/').split('/').map(str::to_owned).collect()
}

/// Checks every route of a document.
pub fn check(document: &Document, routes: &Routes) -> Vec<String> {
    let mut problems = Vec::new();
    for (line, text) in (1..).zip(document.text.lines()) {
        for (at, _) in text.match_indices(PREFIX) {
            let rest = &text[at..];
            let end = rest
                .find(|c: char| c.is_whitespace() || "\"'`?)|,;".contains(c))
                .unwrap_or(rest.len());
            let path = &rest[..end];
            let method = METHODS
                .into_iter()
                .find(|method| text[..at].ends_with(&format!("{method} ")));
            if path != PREFIX && !routes.has(path, method) {
                let problem = format!("there is no route {} {path}", method.unwrap_or_default());
                problems.push(document.problem(line, &problem));
            }
        }
    }
    problems
}

#[test]
fn a_wrong_route_is_reported() {
    use crate::markdown::document;
    let routes = Routes::parse(
        r#"{"paths": {"/v0.2/nonprofit/{identifier}": {"get": {}}, "/v0.2/causes": {"get": {}}}}"#,
    );
    let good = document(
        "`GET /v0.2/nonprofit/{identifier}` \"http://x/v0.2/nonprofit/a-b?apiKey=$KEY\" `/v0.2/causes` `/v0.2/openapi.json`",
    );
    assert_eq!(check(&good, &routes), [""; 0]);
    for wrong in [
        "`/v0.2/cause`",
        "`POST /v0.2/causes`",
        "`/v0.2/nonprofit`",
        "http://x/v0.2/nonprofit/a/b",
    ] {
        assert_eq!(check(&document(wrong), &routes).len(), 1, "{wrong}");
    }
}
