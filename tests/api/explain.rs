//! `explain` of search.

use crate::client::Response;
use crate::dashboard::operator::operator;
use crate::facts::import_facts;
use crate::files::{bmf, nonprofit_row, nonprofit_rows};
use crate::world::World;
use access::keys::Kind;
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use causeway::api::bodies::SearchBody;
use causeway::api::explanation::ExplanationBody;

on_both_databases!(
    an_explanation_names_unknown_words_typos_and_dropped_words,
    an_explanation_says_what_each_filter_removed,
    an_ein_that_is_not_found_is_explained,
    only_private_keys_and_operators_get_explanations,
    a_change_in_the_overlay_is_explained_too,
);

/// Searches with a private key.
async fn search(world: &World, path: &str) -> Response {
    let (_, private) = world.create_key(Kind::Private).await;
    let pair = STANDARD.encode(format!("{}:{private}", world.client.key));
    let headers = [("authorization", &*format!("Basic {pair}"))];
    let url = format!("/v0.2/search/{path}");
    world.client.send(200, &Method::GET, &url, &headers).await
}

async fn explain(world: &World, path: &str) -> ExplanationBody {
    let separator = if path.contains('?') { '&' } else { '?' };
    let response = search(world, &format!("{path}{separator}explain=1")).await;
    let body: SearchBody = serde_json::from_value(response.json).unwrap();
    body.explanation.unwrap()
}

async fn an_explanation_names_unknown_words_typos_and_dropped_words(world: &World) {
    world.load_demo().await;
    let explanation = explain(world, "Zquoxly%20red%20cross").await;
    assert_eq!(explanation.unknown_words, ["Zquoxly"]);
    assert_eq!(explanation.dropped_words, ["Zquoxly"]);
    assert!(explanation.ein.is_none() && explanation.filters.is_empty());
    let explanation = explain(world, "amercan%20red%20cross").await;
    assert_eq!(explanation.unknown_words, ["amercan"]);
    let [typo] = explanation.typos.as_slice() else {
        panic!("{explanation:?}")
    };
    assert_eq!((&*typo.typed, &*typo.read_as), ("amercan", "american"));
    let plain = explain(world, "american%20red%20cro").await;
    assert!(plain.unknown_words.is_empty() && plain.typos.is_empty() && plain.dropped_words.is_empty());
    let same = search(world, "american%20red%20cro?explain=true").await;
    let without = world.client.get(200, "/v0.2/search/american%20red%20cro").await;
    assert_eq!(same.json["nonprofits"], without.json["nonprofits"]);
    assert!(without.json.get("explanation").is_none());
}

async fn an_explanation_says_what_each_filter_removed(world: &World) {
    let rows = nonprofit_rows(20)
        .into_iter()
        .enumerate()
        .map(|(index, row)| match index {
            0..12 => row
                .with("STATE", "OR")
                .with("CITY", "PORTLAND")
                .with("ZIP", "97201"),
            12..17 => row.with("STATE", "OR").with("CITY", "SALEM").with("ZIP", "97301"),
            _ => row
                .with("STATE", "ME")
                .with("CITY", "PORTLAND")
                .with("ZIP", "04101"),
        });
    world.import_irs(bmf(&rows.collect::<Vec<_>>())).await.unwrap();
    for (query, expected) in [
        ("state=ME", &[("state", "ME", 17)][..]),
        (
            "state=OR&city=Portland",
            &[("state", "OR", 3), ("city", "Portland", 5)],
        ),
        ("near=97201", &[("near", "97201", 8)]),
        (
            "near=97201&state=ME",
            &[("state", "ME", 12), ("near", "97201", 3)],
        ),
        ("causes=dance", &[("causes", "dance", 20)]),
        ("disbursable=1", &[("disbursable", "1", 0)]),
    ] {
        let explanation = explain(world, &format!("shelter?{query}")).await;
        let found: Vec<_> = explanation
            .filters
            .iter()
            .map(|filter| (&*filter.name, &*filter.value, filter.removed))
            .collect();
        assert_eq!(found, expected, "{query}");
        assert!(explanation.unknown_words.is_empty(), "{query}");
    }
}

async fn an_ein_that_is_not_found_is_explained(world: &World) {
    let rows = nonprofit_rows(40);
    world.import_irs(bmf(&rows)).await.unwrap();
    world.import_irs(bmf(&rows[1..])).await.unwrap();
    let facts = [
        "insert into revocations (ein, revoked_on, exemption_type, source) values (20240391, '2015-05-15', 3, :source)",
        "insert into revocations (ein, revoked_on, reinstated_on, exemption_type, source) \
         values (20240392, '2015-05-15', '2016-02-01', 3, :source)",
        "insert into publication_78 (ein, codes, source) values (20240393, 'PC', :source)",
    ];
    import_facts(world, "revocations", "revoked.zip", &[], &facts).await;
    let today = platform::clock::rfc3339(world.app.clock.millis())[..10].to_owned();
    for (term, status, revoked_on, is_gone) in [
        ("100000005", "listed", None, false),
        ("10-0000001", "gone", None, true),
        ("020240391", "revoked", Some("2015-05-15"), false),
        ("02-0240391", "revoked", Some("2015-05-15"), false),
        ("020240392", "not_listed", None, false),
        ("020240393", "too_new", None, false),
        ("020240394", "not_listed", None, false),
    ] {
        let explanation = explain(world, term).await;
        let ein = explanation.ein.unwrap();
        assert_eq!(ein.ein, term.replace('-', ""));
        assert_eq!(ein.status, status, "{term}");
        assert_eq!(ein.revoked_on.as_deref(), revoked_on, "{term}");
        assert_eq!(ein.gone_on.is_some(), is_gone, "{term}");
        assert_eq!(ein.as_of.as_deref(), Some(&*today), "{term}");
        assert!(explanation.unknown_words.is_empty(), "{term}");
    }
    assert!(explain(world, "shelter").await.ein.is_none());
}

async fn only_private_keys_and_operators_get_explanations(world: &World) {
    world.load_demo().await;
    let refused = world.client.get(401, "/v0.2/search/red?explain=1").await;
    assert_eq!(refused.code(), "missing_credentials");
    assert!(refused.header("www-authenticate").starts_with("Basic"));
    let wrong = [("authorization", "Basic eDp5")];
    let refused = world
        .client
        .get_with(401, "/v0.2/search/red?explain=1", &wrong)
        .await;
    assert_eq!(refused.code(), "invalid_credentials");
    world.client.get(200, "/v0.2/search/red?explain=0").await;
    let refused = world.client.get(400, "/v0.2/search/red?explain=yes").await;
    assert_eq!(refused.code(), "invalid_parameter");
    let response = search(world, "red?explain=1").await;
    assert!(response.header("ratelimit").starts_with("\"search\";"));
    let operator = operator(world).await;
    let response = operator.get(200, "/v0.2/search/red?explain=1").await;
    assert!(response.json["explanation"].is_object());
    world
        .execute("update accounts set operator = false where username = 'olga'")
        .await;
    operator.get(401, "/v0.2/search/red?explain=1").await;
}

async fn a_change_in_the_overlay_is_explained_too(world: &World) {
    let row = nonprofit_row("100000001", "SHELTER")
        .with("ZIP", "97201")
        .with("STATE", "OR");
    world.import_irs(bmf(&[row])).await.unwrap();
    let line = r#"{"ein":"987654321","name":"Zquoxly Rescue","state":"ME","zip":"04101"}"#;
    world.import_nonprofits(line).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    let explanation = explain(world, "zquoxly%20xyz").await;
    assert_eq!(explanation.unknown_words, ["xyz"]);
    for query in ["state=OR", "near=97201"] {
        let explanation = explain(world, &format!("zquoxly?{query}")).await;
        assert_eq!(explanation.filters[0].removed, 1, "{query}");
    }
}
