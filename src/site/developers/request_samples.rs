//! A sample of each operation of the reference, in curl, JavaScript and Python, written from its description.
//!
//! The samples of guides are files that do something useful. These send one request with the examples of the description,
//! so every operation has them.

use super::reference::Operation;
use super::samples::{PUBLIC_KEY, SERVER, SampleView};
use askama::Template;
use std::fmt::Write;

/// What samples call the private key of the reader.
const PRIVATE_KEY: &str = "PRIVATE_KEY";

/// Returns the sample of an operation as HTML.
pub(super) fn render(operation: &Operation, public_url: &str) -> String {
    let sample = SampleView::of_texts(&operation.title, write(operation));
    let html = sample.render().unwrap_or_default();
    html.replace(SERVER, public_url)
}

/// Returns the ID and the name of each language, with the sample in it.
fn write(operation: &Operation) -> [(&'static str, &'static str, String); 3] {
    let request = Request::new(operation);
    [
        ("curl", "curl", request.curl()),
        ("javascript", "JavaScript", request.javascript()),
        ("python", "Python", request.python()),
    ]
}

struct Request<'a> {
    method: &'a str,
    url: String,
    needs_private_key: bool,
    body: Option<&'a str>,
    /// Whether the response is one JSON value. An export is not, and some responses are empty.
    returns_json: bool,
}

impl<'a> Request<'a> {
    fn new(operation: &'a Operation) -> Request<'a> {
        let path = operation.request(&operation.inputs(&[]), PUBLIC_KEY);
        Request {
            method: &operation.method,
            url: format!("{SERVER}{path}"),
            needs_private_key: operation.needs_private_key,
            body: operation.body_example.as_deref(),
            returns_json: operation.example.is_some(),
        }
    }

    fn curl(&self) -> String {
        let mut lines = vec![format!("curl \"{}\"", self.url)];
        // What curl does by itself.
        let usual = if self.body.is_some() { "POST" } else { "GET" };
        if self.method != usual {
            lines.push(format!("--request {}", self.method));
        }
        if self.needs_private_key {
            lines.push(format!("--user \"{PUBLIC_KEY}:{PRIVATE_KEY}\""));
        }
        if let Some(body) = self.body {
            lines.push("--header \"Content-Type: application/json\"".to_owned());
            lines.push(format!("--data '{}'", body.replace('\'', "'\\''")));
        }
        lines.join(" \\\n  ") + "\n"
    }

    fn javascript(&self) -> String {
        let mut options = String::new();
        if self.method != "GET" {
            let _ = writeln!(options, "  method: '{}',", self.method);
        }
        if self.needs_private_key {
            options.push_str("  headers: {\n");
            let _ = writeln!(
                options,
                "    Authorization: `Basic ${{btoa('{PUBLIC_KEY}:{PRIVATE_KEY}')}}`,"
            );
            if self.body.is_some() {
                options.push_str("    'Content-Type': 'application/json',\n");
            }
            options.push_str("  },\n");
        }
        if let Some(body) = self.body {
            let _ = writeln!(options, "  body: JSON.stringify({}),", body.replace('\n', "\n  "));
        }
        let options = if options.is_empty() {
            String::new()
        } else {
            format!(", {{\n{options}}}")
        };
        let result = if self.returns_json {
            "await response.json()"
        } else {
            "response.status, await response.text()"
        };
        format!(
            "const response = await fetch('{}'{options});\n\
             if (!response.ok) throw new Error((await response.json()).detail);\n\
             console.log({result});\n",
            self.url
        )
    }

    fn python(&self) -> String {
        let mut text = String::new();
        if self.needs_private_key {
            text.push_str("import base64\n");
        }
        if self.returns_json {
            text.push_str("import json\n");
        }
        text.push_str("from urllib.request import Request, urlopen\n\n");
        let _ = writeln!(
            text,
            "request = Request(\"{}\", method=\"{}\")",
            self.url, self.method
        );
        if self.needs_private_key {
            let _ = writeln!(
                text,
                "keys = base64.b64encode(b\"{PUBLIC_KEY}:{PRIVATE_KEY}\").decode()\n\
                 request.add_header(\"Authorization\", f\"Basic {{keys}}\")"
            );
        }
        if let Some(body) = self.body {
            let _ = writeln!(
                text,
                "request.add_header(\"Content-Type\", \"application/json\")\nrequest.data = r\"\"\"{body}\"\"\".encode()"
            );
        }
        let result = if self.returns_json {
            "json.dumps(json.load(response), indent=2)"
        } else {
            "response.status, response.read().decode()"
        };
        let _ = write!(text, "with urlopen(request) as response:\n    print({result})\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::developers::reference::read;

    fn samples(id: &str) -> [String; 3] {
        let description = serde_json::from_str(include_str!("../../../openapi.json")).unwrap();
        let (_, operations) = read(&description, "https://give.example.org");
        let operation = operations.iter().find(|operation| operation.id == id).unwrap();
        write(operation).map(|(_, _, text)| text)
    }

    #[test]
    fn a_read_needs_one_line_and_a_write_sends_its_body_with_both_keys() {
        let [curl, javascript, python] = samples("search");
        assert!(
            curl.starts_with("curl \"https://causeway.example/v0.2/search/"),
            "{curl}"
        );
        assert!(
            curl.ends_with("apiKey=PUBLIC_KEY\"\n") && curl.lines().count() == 1,
            "{curl}"
        );
        assert!(javascript.contains("await response.json()") && !javascript.contains("method"));
        assert!(
            python.contains("method=\"GET\"") && !python.contains("base64"),
            "{python}"
        );
        for sample in samples("create") {
            assert!(sample.contains("PUBLIC_KEY:PRIVATE_KEY"), "{sample}");
            assert!(sample.contains("application/json"), "{sample}");
            assert!(sample.contains("\"title\""), "{sample}");
            assert!(!sample.contains("apiKey="), "{sample}");
        }
    }

    #[test]
    fn every_operation_has_samples_without_gaps() {
        let description = serde_json::from_str(include_str!("../../../openapi.json")).unwrap();
        let (_, operations) = read(&description, "https://give.example.org");
        for operation in &operations {
            for (_, language, text) in write(operation) {
                let path = text
                    .split(SERVER)
                    .nth(1)
                    .unwrap()
                    .split(['"', '\''])
                    .next()
                    .unwrap();
                assert!(
                    !path.contains('{') && !path.contains("//"),
                    "{} {language}: {text}",
                    operation.id
                );
                assert!(!text.contains("\"\"\"\"") && text.ends_with('\n'), "{text}");
            }
        }
    }
}
