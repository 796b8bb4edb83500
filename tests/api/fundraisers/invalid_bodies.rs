//! Invalid bodies: each is refused with the name of the field, and nothing is written.

use super::create::PIXEL;
use super::manage::stranger;
use super::{AARP, NYU, Organizer, PENN, RED_CROSS, SPECIAL, fields, id_of};
use crate::world::World;
use axum::body::{Body, Bytes};
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Semaphore;

on_both_databases!(
    every_invalid_field_is_named,
    each_of_several_nonprofits_is_validated,
    all_errors_are_reported_in_one_response,
    a_picture_is_not_stored_when_other_fields_are_invalid,
    a_body_that_is_not_json_is_rejected,
    a_truncated_body_is_rejected,
    stalled_large_bodies_do_not_block_other_accounts,
    other_media_types_and_oversized_bodies_are_refused,
);

/// The minimal body with one field changed; `None` removes it.
fn body_with(name: &str, value: Option<Value>) -> Value {
    let mut body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Run"});
    match value {
        Some(value) => body[name] = value,
        None => _ = body.as_object_mut().unwrap().remove(name),
    }
    body
}

/// The body of a fundraiser for several nonprofits, with `changes` applied.
fn body_for_several(changes: &Value) -> Value {
    let mut body = json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": [id_of(NYU), id_of(RED_CROSS)], "forNonprofitWeights": [1, 2]});
    body.as_object_mut()
        .unwrap()
        .extend(changes.as_object().unwrap().clone());
    body
}

async fn assert_nothing_written(world: &World) {
    for table in [
        "select slug from fundraisers",
        "select kind from outbox",
        "select kind from ledger_entries",
        "select id from pictures",
    ] {
        assert_eq!(world.texts(table).await.len(), 0, "{table}");
    }
}

/// Invalid values of each field.
fn invalid_values() -> [(&'static str, Value); 12] {
    let dates = json!([
        5,
        "",
        "tomorrow",
        "2026-05-01",
        "2026-05-01T00:00:00",
        "2026-13-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "1969-01-01T00:00:00Z",
        ["2026-05-01T00:00:00Z"],
        "2".repeat(100_000),
    ]);
    let ids = json!([
        null,
        5,
        "",
        RED_CROSS,
        "american-red-cross",
        [],
        "ddacc39920c5462e80e197fa958071ea",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        id_of(AARP),
    ]);
    [
        ("nonprofitId", ids),
        (
            "title",
            json!([null, 5, "", "  \t ", ["Run"], "x".repeat(121), "a\u{0}b", "a\nb"]),
        ),
        ("description", json!([5, {}, "x".repeat(20_001), "a\u{0}b"])),
        ("startDate", dates.clone()),
        ("endDate", dates),
        (
            "goal",
            json!([0, -1, 1.5, "100", true, 1_000_000_000_001_i64, 1e300, []]),
        ),
        (
            "raisedOffline",
            json!([-1, 0.5, "0", 100_000_001, 1_000_000_000_001_i64, u64::MAX]),
        ),
        ("currency", json!(["usd", "EUR", "", null, 840])),
        (
            "imageBase64",
            json!([5, "", "%%%", "aGVsbG8=", "data:image/png,abc"]),
        ),
        ("type", json!(["SINGLE", "", "multiple_nonprofits", 1])),
        ("forNonprofits", json!([[id_of(NYU)], "x"])),
        ("forNonprofitWeights", json!([[1], 1])),
    ]
}

async fn every_invalid_field_is_named(world: &World) {
    let organizer = Organizer::new(world).await;
    for (name, values) in invalid_values() {
        for value in values.as_array().unwrap() {
            let body = body_with(name, Some(value.clone()));
            let refused = organizer.create(400, &body).await;
            assert_eq!(fields(&refused), [name], "{value:.100}");
        }
    }
    for name in ["nonprofitId", "title"] {
        let refused = organizer.create(400, &body_with(name, None)).await;
        assert_eq!(fields(&refused), [name]);
    }
    assert_nothing_written(world).await;
    for (name, value) in [
        ("title", json!("x".repeat(120))),
        ("description", json!("é".repeat(20_000))),
        ("goal", json!(1_000_000_000_000_i64)),
        ("goal", json!(1)),
        ("goal", json!(100.0)),
        ("raisedOffline", json!(0)),
        ("raisedOffline", json!(100_000_000)),
    ] {
        organizer.create(200, &body_with(name, Some(value))).await;
    }
}

async fn each_of_several_nonprofits_is_validated(world: &World) {
    let organizer = Organizer::new(world).await;
    let id = id_of(NYU);
    for (changes, expected) in [
        (json!({"forNonprofits": null}), vec!["forNonprofits"]),
        (
            json!({"forNonprofits": [], "forNonprofitWeights": []}),
            vec!["forNonprofits"],
        ),
        (json!({"forNonprofits": "x"}), vec!["forNonprofits"]),
        (
            json!({"forNonprofits": vec![id.clone(); 101], "forNonprofitWeights": null}),
            vec!["forNonprofits"],
        ),
        (json!({"forNonprofits": [id, id]}), vec!["forNonprofits[1]"]),
        (
            json!({"forNonprofits": [5, id_of(AARP)]}),
            vec!["forNonprofits[0]", "forNonprofits[1]"],
        ),
        (
            json!({"forNonprofits": [id, "0f8fad5b-d9cb-469f-a165-70867728950e"]}),
            vec!["forNonprofits[1]"],
        ),
        (json!({"forNonprofits": [id, SPECIAL]}), vec!["forNonprofits[1]"]),
        (json!({"forNonprofitWeights": [1]}), vec!["forNonprofitWeights"]),
        (
            json!({"forNonprofitWeights": [1, 2, 3]}),
            vec!["forNonprofitWeights"],
        ),
        (json!({"forNonprofitWeights": "1,2"}), vec!["forNonprofitWeights"]),
        (
            json!({"forNonprofitWeights": [0, 1]}),
            vec!["forNonprofitWeights[0]"],
        ),
        (
            json!({"forNonprofitWeights": [-1, 1e308]}),
            vec!["forNonprofitWeights[0]", "forNonprofitWeights[1]"],
        ),
        (
            json!({"forNonprofitWeights": [null, "2"]}),
            vec!["forNonprofitWeights[0]", "forNonprofitWeights[1]"],
        ),
        (json!({"type": null}), vec!["type"]),
        (json!({"nonprofitId": id_of(PENN)}), vec!["nonprofitId"]),
    ] {
        let refused = organizer.create(400, &body_for_several(&changes)).await;
        assert_eq!(fields(&refused), expected, "{changes:.200}");
    }
    assert_nothing_written(world).await;
}

async fn all_errors_are_reported_in_one_response(world: &World) {
    let organizer = Organizer::new(world).await;
    let refused = organizer
        .create(
            400,
            &json!({"nonprofitId": id_of(AARP), "title": "", "goal": 0, "currency": "EUR",
        "startDate": "2026-06-01T00:00:00Z", "endDate": "2026-05-01T00:00:00Z", "imageBase64": "%"}),
        )
        .await;
    assert_eq!(
        fields(&refused),
        [
            "title",
            "endDate",
            "goal",
            "currency",
            "nonprofitId",
            "imageBase64"
        ]
    );
    assert!(refused.json["detail"].as_str().unwrap().contains("goal: "));
    let unknown = "0f8fad5b-d9cb-469f-a165-70867728950e";
    for (body, expected) in [
        (
            json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS", "forNonprofits": [], "forNonprofitWeights": [-1]}),
            vec!["forNonprofits", "forNonprofitWeights[0]"],
        ),
        (
            json!({"nonprofitId": "x", "title": "All", "forNonprofits": [id_of(NYU)]}),
            vec!["nonprofitId", "forNonprofits"],
        ),
        (
            json!({"nonprofitId": SPECIAL, "title": "All", "forNonprofits": ["x", unknown], "forNonprofitWeights": [-1, 1]}),
            vec![
                "type",
                "forNonprofitWeights[0]",
                "forNonprofits[0]",
                "forNonprofits[1]",
            ],
        ),
        (
            json!({"nonprofitId": unknown, "title": "All", "type": "ALL", "forNonprofits": ["x"]}),
            vec!["type", "forNonprofits[0]", "nonprofitId"],
        ),
    ] {
        assert_eq!(fields(&organizer.create(400, &body).await), expected, "{body}");
    }
    assert_nothing_written(world).await;
}

async fn a_picture_is_not_stored_when_other_fields_are_invalid(world: &World) {
    let organizer = Organizer::new(world).await;
    let mut body = body_with("imageBase64", Some(json!(PIXEL)));
    body["goal"] = json!(-5);
    assert_eq!(fields(&organizer.create(400, &body).await), ["goal"]);
    let large = STANDARD.encode(vec![0; 11 << 20]);
    let refused = organizer
        .create(400, &body_with("imageBase64", Some(json!(large))))
        .await;
    assert_eq!(fields(&refused), ["imageBase64"]);
    assert_nothing_written(world).await;
}

async fn a_body_that_is_not_json_is_rejected(world: &World) {
    let organizer = Organizer::new(world).await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let nested = format!("{{\"title\": {deep}}}");
    let weights = r#"{"nonprofitId": "x", "title": "All", "forNonprofitWeights": [NaN, 1]}"#;
    let half = r#"{"nonprofitId": "ddacc399-20c5-462e-80e1-97fa958071ea", "tit"#;
    for bad in [
        "",
        "{",
        "nonsense",
        "{\"a\": 1e999}",
        &deep,
        &nested,
        weights,
        half,
        "{}{}",
        "\u{feff}{}",
    ] {
        let refused = organizer
            .write(400, &Method::POST, "/v0.2/fundraiser", bad.to_owned(), &[])
            .await;
        assert_eq!(refused.code(), "invalid_json", "{bad:.80}");
    }
    for bad in ["[]", "null", "\"x\"", "5"] {
        let refused = organizer
            .write(400, &Method::POST, "/v0.2/fundraiser", bad.to_owned(), &[])
            .await;
        assert_eq!(fields(&refused), ["body"], "{bad}");
    }
    let bytes = organizer
        .write(
            400,
            &Method::POST,
            "/v0.2/fundraiser",
            vec![b'{', 0xff, b'}'],
            &[],
        )
        .await;
    assert_eq!(bytes.code(), "invalid_json");
    assert_nothing_written(world).await;
}

async fn a_truncated_body_is_rejected(world: &World) {
    let organizer = Organizer::new(world).await;
    let parts: [Result<Bytes, std::io::Error>; 2] = [
        Ok(Bytes::from_static(b"{\"title\": ")),
        Err(std::io::ErrorKind::UnexpectedEof.into()),
    ];
    let body = Body::from_stream(stream::iter(parts));
    let refused = organizer
        .write(400, &Method::POST, "/v0.2/fundraiser", body, &[])
        .await;
    assert_eq!(refused.code(), "invalid_json");
    assert_nothing_written(world).await;
}

async fn stalled_large_bodies_do_not_block_other_accounts(world: &World) {
    let organizer = Organizer::new(world).await;
    let eve = stranger(world).await;
    let started = Arc::new(Semaphore::new(0));
    let stalled = (0..8).map(|_| {
        let started = Arc::clone(&started);
        // Each body lacks only its last part. Two of them fit into the share of the account, and the others are cut.
        let parts = stream::iter(0..15).map(move |part| {
            started.add_permits(usize::from(part == 0));
            Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 20]))
        });
        let body = Body::from_stream(parts.chain(stream::pending()));
        let (client, basic) = (&organizer.client, organizer.basic.as_str());
        async move {
            let headers = [
                ("authorization", basic),
                ("content-type", "application/json"),
                ("content-length", "16777216"),
            ];
            client
                .send_any(&Method::POST, "/v0.2/fundraiser", &headers, body)
                .await
        }
    });
    let large = body_with("description", Some(json!(" ".repeat(3 << 20))));
    let other = async {
        started.acquire_many(8).await.unwrap().forget();
        eve.create(200, &large).await
    };
    tokio::select! {
        _ = join_all(stalled) => unreachable!("all stalled bodies got a response"),
        _ = other => {}
    }
}

async fn other_media_types_and_oversized_bodies_are_refused(world: &World) {
    let organizer = Organizer::new(world).await;
    let body = body_with("title", Some(json!("Run"))).to_string();
    for media_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let headers = [
            ("authorization", organizer.basic.as_str()),
            ("content-type", media_type),
        ];
        let refused = world
            .client
            .send_body(415, &Method::POST, "/v0.2/fundraiser", &headers, body.clone())
            .await;
        assert_eq!(refused.code(), "unsupported_media_type");
    }
    let headers = [("authorization", organizer.basic.as_str())];
    world
        .client
        .send_body(415, &Method::POST, "/v0.2/fundraiser", &headers, body)
        .await;
    // Without a Content-Length the size is only known while the body is read.
    let chunk = Bytes::from(vec![b' '; 1 << 20]);
    let endless = stream::iter(std::iter::repeat_n(chunk, 17).map(Ok::<_, std::io::Error>));
    let refused = organizer
        .write(
            413,
            &Method::POST,
            "/v0.2/fundraiser",
            Body::from_stream(endless),
            &[],
        )
        .await;
    assert_eq!(refused.code(), "too_large");
    assert_nothing_written(world).await;
}
