//! Long lists on the operator pages, and the create limit.

use super::operator::operator;
use super::visitor::{Visitor, between};
use crate::api::fundraisers::{RED_CROSS, basic, id_of};
use crate::world::World;
use access::accounts::{self, Username};
use access::audit::Actor;
use access::keys::{KeyText, Kind, store};
use axum::http::Method;
use causeway::app::recent_errors::FailedRequest;
use platform::ids::KeyId;
use serde_json::json;
use std::collections::BTreeSet;

on_both_databases!(
    long_lists_are_paged_and_show_each_row_once,
    invalid_page_numbers_and_filters_are_tolerated,
    an_operator_sets_the_create_limit_of_a_private_key,
);

const ROWS: usize = 120;
const IMPORTS: &str = "insert into imports (revision, kind, started_at, finished_at, lines, added, changed, gone, refused) \
     with recursive n(i) as (select 1001 union all select i + 1 from n where i < 1120) select i, 'irs', 0, 0, i, 0, 0, 0, 0 from n";

/// Reads all pages of a list and returns what `row` finds in each row, and the number of pages.
async fn read_all(
    visitor: &Visitor,
    url: &str,
    link: &str,
    row: impl Fn(&str) -> Option<String>,
) -> (Vec<String>, usize) {
    let (mut rows, mut pages, mut next) = (Vec::new(), 0, Some(url.to_owned()));
    while let Some(url) = next {
        let page = visitor.get(200, &url).await.text();
        let (_, body) = page
            .split_once("<tbody>")
            .unwrap_or_else(|| panic!("no list: {page}"));
        rows.extend(body.split("<tr>").filter_map(&row));
        pages += 1;
        next = between(&page, link, "\"").map(|rest| rest.replace("&#38;", "&").replace("&amp;", "&"));
        assert!(pages < 20, "the list does not end");
    }
    (rows, pages)
}

/// Asserts that `count` distinct rows were found on `expected` pages.
fn assert_all((rows, pages): (Vec<String>, usize), count: usize, expected: usize) {
    assert_eq!((rows.len(), pages), (count, expected), "{rows:?}");
    assert_eq!(
        rows.iter().collect::<BTreeSet<_>>().len(),
        count,
        "a row appears twice"
    );
}

const NEXT: &str = "rel=\"next\" href=\"";

async fn long_lists_are_paged_and_show_each_row_once(world: &World) {
    let operator = operator(world).await;
    fill_lists(world).await;
    let cell = |before: &'static str| move |row: &str| between(row, before, "<");

    let account = |row: &str| between(row, "operator/accounts/", "\"");
    // The list also contains the account of the story and that of the operator.
    assert_all(
        read_all(&operator, "/dashboard/operator/accounts", NEXT, account).await,
        ROWS + 2,
        3,
    );
    assert_all(
        read_all(
            &operator,
            "/dashboard/operator/accounts?account=many-",
            NEXT,
            account,
        )
        .await,
        ROWS,
        3,
    );
    assert_all(
        read_all(
            &operator,
            "/dashboard/operator/accounts?account=many-00",
            NEXT,
            account,
        )
        .await,
        10,
        1,
    );
    let id = |row: &str| between(row, "/dashboard/operator/keys/", "\"");
    assert_all(
        read_all(&operator, "/dashboard/operator/keys?account=MANY-", NEXT, id).await,
        ROWS,
        3,
    );
    assert_all(
        read_all(
            &operator,
            "/dashboard/operator/imports",
            NEXT,
            cell("<td class=\"number\">"),
        )
        .await,
        ROWS,
        3,
    );
    assert_all(
        read_all(&operator, "/dashboard/operator/errors", NEXT, cell("<code>")).await,
        100,
        2,
    );
    let older = |row: &str| between(row, "<bdi>", "</bdi>");
    assert_all(
        read_all(&operator, "/dashboard/operator/audit", "<p><a href=\"", older).await,
        ROWS,
        3,
    );
}

async fn invalid_page_numbers_and_filters_are_tolerated(world: &World) {
    let operator = operator(world).await;
    fill_lists(world).await;
    // An invalid page number shows the first page, one beyond the end the last.
    for (page, shown) in [
        ("0", "many-000"),
        ("-1", "many-000"),
        ("x", "many-000"),
        ("99999999999999999999", "many-000"),
        ("3", "many-119"),
        ("4", "many-119"),
        ("9223372036854775807", "many-119"),
    ] {
        let text = operator
            .get(
                200,
                &format!("/dashboard/operator/accounts?account=many&page={page}"),
            )
            .await
            .text();
        assert!(text.contains(shown), "{page}: {text}");
    }
    for unusual in ["%00", "%25", "_", "many-%27--", "%F0%9F%A6%8A"] {
        operator
            .get(200, &format!("/dashboard/operator/accounts?account={unusual}"))
            .await;
        operator
            .get(200, &format!("/dashboard/operator/keys?account={unusual}"))
            .await;
    }
}

/// Adds more rows to each list than fit on a page.
async fn fill_lists(world: &World) {
    let now = world.app.clock.millis();
    let mut key = KeyId::new();
    for number in 0..ROWS {
        let username = Username::parse(&format!("many-{number:03}")).unwrap();
        let account = accounts::store::insert_without_password(&world.app.db, &username, None, false, now)
            .await
            .unwrap()
            .unwrap();
        key = store::insert(
            &world.app.db,
            account,
            "many",
            &KeyText::generate(Kind::Public),
            now,
        )
        .await
        .unwrap();
        world.app.telemetry.recent_errors.note(FailedRequest {
            at: now,
            request: format!("request-{number}"),
            method: "GET".to_owned(),
            route: "/".to_owned(),
            status: 500,
            key: None,
        });
    }
    for number in 0..ROWS {
        store::block(
            &world.app.db,
            key,
            &format!("reason {number}."),
            Actor::Command,
            now,
        )
        .await
        .unwrap();
    }
    world.execute(IMPORTS).await;
}

async fn an_operator_sets_the_create_limit_of_a_private_key(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    let operator = operator(world).await;
    let (id, private) = world.create_key(Kind::Private).await;
    let page = format!("/dashboard/operator/keys/{id}");
    let shown = operator.get(200, &page).await.text();
    assert!(
        shown.contains("name=\"create\"") && !shown.contains("name=\"search\""),
        "{shown}"
    );
    operator
        .post(422, &format!("{page}/limits"), &[("create", "many")])
        .await;
    operator
        .post(303, &format!("{page}/limits"), &[("create", "2")])
        .await;
    world.app.access.keys.refresh().await.unwrap();
    let basic = basic(&world.client.key, &private);
    let headers = [
        ("authorization", basic.as_str()),
        ("content-type", "application/json"),
    ];
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run"}).to_string();
    for status in [200, 200, 429] {
        let response = world
            .client
            .send_body(status, &Method::POST, "/v0.2/fundraiser", &headers, body.clone())
            .await;
        assert_eq!(response.header("ratelimit-policy"), "\"create\";q=2;w=60");
    }
    assert!(
        operator
            .get(200, "/dashboard/operator/audit")
            .await
            .text()
            .contains("create=2")
    );
}
