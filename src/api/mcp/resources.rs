//! The resources: causes and nonprofits, under URIs of our own.

use super::tools::ApiRequest;
use directory::nonprofits::causes::Causes;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

const SCHEME: &str = "causeway://";
pub(super) const MEDIA_TYPE: &str = "application/json";

/// Returns the resources that can be listed: the causes. Nonprofits are too many, see [`templates`].
pub(super) fn list(causes: &Causes) -> Value {
    let all = json!({
        "uri": format!("{SCHEME}causes"),
        "name": "causes",
        "title": "Causes",
        "description": "All causes with their numbers of nonprofits",
        "mimeType": MEDIA_TYPE,
    });
    let each = causes.list().iter().map(|cause| {
        json!({
            "uri": format!("{SCHEME}causes/{}", cause.name),
            "name": format!("causes/{}", cause.name),
            "title": cause.title,
            "description": format!("The most prominent nonprofits of the cause {}", cause.name),
            "mimeType": MEDIA_TYPE,
        })
    });
    std::iter::once(all).chain(each).collect()
}

/// Returns the templates of URIs.
pub(super) fn templates() -> Value {
    json!([
        {
            "uriTemplate": format!("{SCHEME}nonprofits/{{identifier}}"),
            "name": "nonprofit",
            "title": "Nonprofit",
            "description": "A nonprofit, by its slug, its EIN as nine digits, or its ID",
            "mimeType": MEDIA_TYPE,
        },
        {
            "uriTemplate": format!("{SCHEME}causes/{{cause}}"),
            "name": "cause",
            "title": "Cause",
            "description": "The most prominent nonprofits of a cause",
            "mimeType": MEDIA_TYPE,
        },
    ])
}

/// Returns the request that reads a resource. `None` if no resource has this URI.
pub(super) fn to_request(uri: &str) -> Option<ApiRequest> {
    let path = uri.strip_prefix(SCHEME)?;
    if path == "causes" {
        return Some(ApiRequest::get(&["causes"], &[]));
    }
    let (kind, name) = path.split_once('/')?;
    let name = percent_decode_str(name).decode_utf8().ok()?;
    if name.trim().is_empty() {
        return None;
    }
    match kind {
        "causes" => Some(ApiRequest::get(&["browse", &name], &[])),
        "nonprofits" => Some(ApiRequest::get(&["nonprofit", &name], &[])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_a_request() {
        let path = |uri: &str| to_request(uri).map(|request| request.path);
        assert_eq!(path("causeway://causes").as_deref(), Some("/v0.2/causes?"));
        assert_eq!(
            path("causeway://causes/animals").as_deref(),
            Some("/v0.2/browse/animals?")
        );
        assert_eq!(
            path("causeway://nonprofits/530196605").as_deref(),
            Some("/v0.2/nonprofit/530196605?")
        );
        for unknown in [
            "",
            "test://x",
            "causeway://",
            "causeway://nonprofits/",
            "causeway://x/y",
        ] {
            assert_eq!(path(unknown), None, "{unknown}");
        }
    }
}
