//! The manifest: what the service offers, and where.

use super::entity::NONPROFIT;
use super::preview;
use super::queries::MAX_QUERIES;
use crate::app::urls::Urls;
use serde_json::{Value, json};

/// Returns the manifest. Its URLs contain the key that it was requested with.
///
/// OpenRefine appends "?type=" to the URL of the property proposals, which therefore has no query and needs no key.
pub(super) fn manifest(urls: &Urls, key: Option<&str>) -> Value {
    let service = urls.page("/reconcile");
    // A key has only letters, digits and underscores.
    let key = key.map(|key| format!("apiKey={key}"));
    let query = key.as_ref().map(|key| format!("?{key}")).unwrap_or_default();
    let and_key = key.as_ref().map(|key| format!("&{key}")).unwrap_or_default();
    let suggest = |kind: &str| {
        json!({
            "service_url": service,
            "service_path": format!("/suggest/{kind}{query}"),
            "flyout_service_url": service,
            "flyout_service_path": format!("/flyout/{kind}?id=${{id}}{and_key}"),
        })
    };
    json!({
        "versions": ["0.2"],
        "name": "Causeway nonprofits",
        "identifierSpace": urls.page("/"),
        "schemaSpace": "https://schema.org/NGO",
        "documentation": urls.page("/developers/reconcile"),
        "serviceVersion": env!("CARGO_PKG_VERSION"),
        "defaultTypes": [NONPROFIT],
        "view": {"url": urls.page("/{{id}}")},
        "batchSize": MAX_QUERIES,
        "authentication": {"type": "apiKey", "name": "apiKey", "in": "query"},
        "suggest": {
            "entity": suggest("entity"),
            "property": suggest("property"),
            "type": suggest("type"),
        },
        "preview": {
            "url": format!("{service}/preview?id={{{{id}}}}{and_key}"),
            "width": preview::WIDTH,
            "height": preview::HEIGHT,
        },
        "extend": {
            "propose_properties": {"service_url": service, "service_path": "/properties"},
            "property_settings": [],
        },
    })
}
