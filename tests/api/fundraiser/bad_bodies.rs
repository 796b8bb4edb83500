//! Bodies that cannot be used: each is refused with the name of its field, and nothing is written.

use super::create::PIXEL;
use super::own::stranger;
use super::{AARP, NYU, Organiser, PENN, RED_CROSS, SPECIAL, fields, id_of};
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
    each_field_that_is_missing_null_of_another_type_or_out_of_range_is_named,
    several_nonprofits_are_judged_one_by_one,
    all_faults_come_in_one_answer,
    a_picture_beside_other_faults_is_not_kept,
    what_is_no_json_is_told,
    a_body_that_stops_half_way_is_told,
    large_bodies_that_stall_leave_room_for_those_of_others,
    another_media_type_and_too_much_are_refused,
);

/// The least body with one field changed; `None` leaves it out.
fn with(name: &str, value: Option<Value>) -> Value {
    let mut body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Run"});
    match value {
        Some(value) => body[name] = value,
        None => _ = body.as_object_mut().unwrap().remove(name),
    }
    body
}

/// A fundraiser for several with other fields.
fn several(changes: &Value) -> Value {
    let mut body = json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": [id_of(NYU), id_of(RED_CROSS)], "forNonprofitWeights": [1, 2]});
    body.as_object_mut()
        .unwrap()
        .extend(changes.as_object().unwrap().clone());
    body
}

async fn nothing_written(world: &World) {
    for table in [
        "select slug from fundraisers",
        "select kind from outbox",
        "select kind from journal",
        "select id from pictures",
    ] {
        assert_eq!(world.texts(table).await.len(), 0, "{table}");
    }
}

async fn each_field_that_is_missing_null_of_another_type_or_out_of_range_is_named(world: &World) {
    let organiser = Organiser::new(world).await;
    let long = "x".repeat(20_001);
    for (name, values) in [
        (
            "nonprofitId",
            vec![
                None,
                Some(json!(null)),
                Some(json!(5)),
                Some(json!("")),
                Some(json!(RED_CROSS)),
                Some(json!("american-red-cross")),
                Some(json!([])),
                Some(json!("ddacc39920c5462e80e197fa958071ea")),
                Some(json!("0f8fad5b-d9cb-469f-a165-70867728950e")),
                Some(json!(id_of(AARP))),
            ],
        ),
        (
            "title",
            vec![
                None,
                Some(json!(null)),
                Some(json!(5)),
                Some(json!("")),
                Some(json!("  \t ")),
                Some(json!(["Run"])),
                Some(json!("x".repeat(121))),
                Some(json!("a\u{0}b")),
                Some(json!("a\nb")),
            ],
        ),
        (
            "description",
            vec![
                Some(json!(5)),
                Some(json!({})),
                Some(json!(long)),
                Some(json!("a\u{0}b")),
            ],
        ),
        ("startDate", dates()),
        ("endDate", dates()),
        (
            "goal",
            vec![
                Some(json!(0)),
                Some(json!(-1)),
                Some(json!(1.5)),
                Some(json!("100")),
                Some(json!(true)),
                Some(json!(1_000_000_000_001_i64)),
                Some(json!(1e300)),
                Some(json!([])),
            ],
        ),
        (
            "raisedOffline",
            vec![
                Some(json!(-1)),
                Some(json!(0.5)),
                Some(json!("0")),
                Some(json!(1_000_000_000_001_i64)),
                Some(json!(u64::MAX)),
            ],
        ),
        (
            "currency",
            vec![
                Some(json!("usd")),
                Some(json!("EUR")),
                Some(json!("")),
                Some(json!(null)),
                Some(json!(840)),
            ],
        ),
        (
            "imageBase64",
            vec![
                Some(json!(5)),
                Some(json!("")),
                Some(json!("%%%")),
                Some(json!("aGVsbG8=")),
                Some(json!("data:image/png,abc")),
            ],
        ),
        (
            "type",
            vec![
                Some(json!("SINGLE")),
                Some(json!("")),
                Some(json!("multiple_nonprofits")),
                Some(json!(1)),
            ],
        ),
        ("forNonprofits", vec![Some(json!([id_of(NYU)])), Some(json!("x"))]),
        ("forNonprofitWeights", vec![Some(json!([1])), Some(json!(1))]),
    ] {
        for value in values {
            let body = with(name, value.clone());
            let refused = organiser.create(400, &body).await;
            assert_eq!(fields(&refused), [name], "{value:?}");
        }
    }
    nothing_written(world).await;
    for (name, value) in [
        ("title", json!("x".repeat(120))),
        ("description", json!("é".repeat(20_000))),
        ("goal", json!(1_000_000_000_000_i64)),
        ("goal", json!(1)),
        ("raisedOffline", json!(0)),
        ("raisedOffline", json!(1_000_000_000_000_i64)),
    ] {
        organiser.create(200, &with(name, Some(value))).await;
    }
}

async fn several_nonprofits_are_judged_one_by_one(world: &World) {
    let organiser = Organiser::new(world).await;
    let id = id_of(NYU);
    for (changes, named) in [
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
        let refused = organiser.create(400, &several(&changes)).await;
        assert_eq!(fields(&refused), named, "{changes:.200}");
    }
    nothing_written(world).await;
}

async fn all_faults_come_in_one_answer(world: &World) {
    let organiser = Organiser::new(world).await;
    let refused = organiser
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
    for (body, named) in [
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
        assert_eq!(fields(&organiser.create(400, &body).await), named, "{body}");
    }
    nothing_written(world).await;
}

async fn a_picture_beside_other_faults_is_not_kept(world: &World) {
    let organiser = Organiser::new(world).await;
    let mut body = with("imageBase64", Some(json!(PIXEL)));
    body["goal"] = json!(-5);
    assert_eq!(fields(&organiser.create(400, &body).await), ["goal"]);
    let large = STANDARD.encode(vec![0; 11 << 20]);
    let refused = organiser
        .create(400, &with("imageBase64", Some(json!(large))))
        .await;
    assert_eq!(fields(&refused), ["imageBase64"]);
    nothing_written(world).await;
}

async fn what_is_no_json_is_told(world: &World) {
    let organiser = Organiser::new(world).await;
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
        let refused = organiser
            .write(400, &Method::POST, "/v0.2/fundraiser", bad.to_owned(), &[])
            .await;
        assert_eq!(refused.code(), "invalid_json", "{bad:.80}");
    }
    for bad in ["[]", "null", "\"x\"", "5"] {
        let refused = organiser
            .write(400, &Method::POST, "/v0.2/fundraiser", bad.to_owned(), &[])
            .await;
        assert_eq!(fields(&refused), ["body"], "{bad}");
    }
    let bytes = organiser
        .write(
            400,
            &Method::POST,
            "/v0.2/fundraiser",
            vec![b'{', 0xff, b'}'],
            &[],
        )
        .await;
    assert_eq!(bytes.code(), "invalid_json");
    nothing_written(world).await;
}

async fn a_body_that_stops_half_way_is_told(world: &World) {
    let organiser = Organiser::new(world).await;
    let parts: [Result<Bytes, std::io::Error>; 2] = [
        Ok(Bytes::from_static(b"{\"title\": ")),
        Err(std::io::ErrorKind::UnexpectedEof.into()),
    ];
    let body = Body::from_stream(stream::iter(parts));
    let refused = organiser
        .write(400, &Method::POST, "/v0.2/fundraiser", body, &[])
        .await;
    assert_eq!(refused.code(), "invalid_json");
    nothing_written(world).await;
}

async fn large_bodies_that_stall_leave_room_for_those_of_others(world: &World) {
    let organiser = Organiser::new(world).await;
    let eve = stranger(world).await;
    let begun = Arc::new(Semaphore::new(0));
    let stalled = (0..8).map(|_| {
        let begun = Arc::clone(&begun);
        // Each is all but whole; the first part is asked for before any room is.
        let parts = stream::iter(0..15).map(move |part| {
            begun.add_permits(usize::from(part == 0));
            Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 20]))
        });
        let body = Body::from_stream(parts.chain(stream::pending()));
        organiser.write(
            0,
            &Method::POST,
            "/v0.2/fundraiser",
            body,
            &[("content-length", "16777216")],
        )
    });
    let large = with("description", Some(json!(" ".repeat(3 << 20))));
    let served = async {
        begun.acquire_many(8).await.unwrap().forget();
        eve.create(200, &large).await
    };
    tokio::select! {
        _ = join_all(stalled) => unreachable!("a stalled body was answered"),
        _ = served => {}
    }
}

async fn another_media_type_and_too_much_are_refused(world: &World) {
    let organiser = Organiser::new(world).await;
    let body = with("title", Some(json!("Run"))).to_string();
    for media_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let headers = [
            ("authorization", organiser.basic.as_str()),
            ("content-type", media_type),
        ];
        let refused = world
            .client
            .send_body(415, &Method::POST, "/v0.2/fundraiser", &headers, body.clone())
            .await;
        assert_eq!(refused.code(), "unsupported_media_type");
    }
    let headers = [("authorization", organiser.basic.as_str())];
    world
        .client
        .send_body(415, &Method::POST, "/v0.2/fundraiser", &headers, body)
        .await;
    // No length is told, so it is counted while it is read.
    let chunk = Bytes::from(vec![b' '; 1 << 20]);
    let endless = stream::iter(std::iter::repeat_n(chunk, 17).map(Ok::<_, std::io::Error>));
    let refused = organiser
        .write(
            413,
            &Method::POST,
            "/v0.2/fundraiser",
            Body::from_stream(endless),
            &[],
        )
        .await;
    assert_eq!(refused.code(), "too_large");
    nothing_written(world).await;
}

fn dates() -> Vec<Option<Value>> {
    [
        json!(5),
        json!(""),
        json!("tomorrow"),
        json!("2026-05-01"),
        json!("2026-05-01T00:00:00"),
        json!("2026-13-01T00:00:00Z"),
        json!("9999-12-31T23:59:59Z"),
        json!("1969-01-01T00:00:00Z"),
        json!(["2026-05-01T00:00:00Z"]),
        json!("2".repeat(100_000)),
    ]
    .into_iter()
    .map(Some)
    .collect()
}
