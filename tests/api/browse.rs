//! `GET /v0.2/browse/{cause}` and `GET /v0.2/causes`

use crate::files::generated;
use crate::world::World;
use causeway::api::bodies::BrowseItem;
use directory::nonprofits::causes::Causes;
use std::collections::HashSet;

on_both_databases!(
    following_all_pages_lists_every_nonprofit_once,
    small_changes_update_the_lists_without_losing_an_entry,
    following_all_pages_lists_every_nonprofit_once_during_imports,
    the_first_page_lists_the_ten_most_prominent_nonprofits,
    invalid_parameters_and_unknown_causes_are_rejected,
    causes_are_listed_with_their_nonprofit_counts,
);

/// All nonprofits of a cause, collected from its pages.
async fn read_all(world: &World, cause: &str, take: u64) -> (u64, Vec<BrowseItem>) {
    let (mut page, mut items, mut total) = (1, Vec::new(), 0);
    loop {
        let response = world
            .client
            .get(200, &format!("/v0.2/browse/{cause}?take={take}&page={page}"))
            .await;
        let pagination = &response.json["pagination"];
        assert_eq!(pagination["page"], page);
        assert_eq!(pagination["page_size"], take);
        total = pagination["total_results"].as_u64().unwrap_or(total);
        assert_eq!(pagination["pages"], total.div_ceil(take));
        let found: Vec<BrowseItem> = serde_json::from_value(response.json["nonprofits"].clone()).unwrap();
        if found.is_empty() {
            return (total, items);
        }
        items.extend(found);
        page += 1;
    }
}

async fn following_all_pages_lists_every_nonprofit_once(world: &World) {
    world.load_demo().await;
    for (cause, take) in [("education", 7), ("animals", 100), ("space", 1)] {
        let (total, items) = read_all(world, cause, take).await;
        let ids: HashSet<_> = items.iter().map(|item| item.id).collect();
        assert_eq!(items.len() as u64, total, "{cause}");
        assert_eq!(ids.len() as u64, total, "{cause}");
        assert!(total > 0 && items.iter().all(|item| item.tags.contains(&cause.to_owned())));
    }
}

async fn small_changes_update_the_lists_without_losing_an_entry(world: &World) {
    world.import_irs(generated(400, 3)).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    let (before, items) = read_all(world, "religion", 13).await;
    let lines: Vec<String> = items
        .iter()
        .take(9)
        .map(|item| format!(r#"{{"id":"{}","causes":["dance"]}}"#, item.id))
        .chain([
            "{\"ein\":\"999999998\",\"name\":\"New Chapel\",\"causes\":[\"religion\"],\"revenue\":5000000}"
                .to_owned(),
        ])
        .collect();
    world.import_nonprofits(&lines.join("\n")).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 10);
    let (after, overlaid) = read_all(world, "religion", 13).await;
    assert_eq!(after, before - 9 + 1);
    world.app.directory.rebuild().await.unwrap();
    assert!(world.app.directory.view().overlay.is_empty());
    let (after_rebuild, rebuilt) = read_all(world, "religion", 13).await;
    assert_eq!(after_rebuild, after);
    let ids = |items: &[BrowseItem]| items.iter().map(|item| item.id).collect::<Vec<_>>();
    assert_eq!(
        ids(&overlaid),
        ids(&rebuilt),
        "the overlay and the snapshot have the same order"
    );
}

async fn following_all_pages_lists_every_nonprofit_once_during_imports(world: &World) {
    world.import_irs(generated(400, 3)).await.unwrap();
    let (total, before) = read_all(world, "religion", 13).await;
    let mut seen = Vec::new();
    for page in 1..=total.div_ceil(13) {
        let response = world
            .client
            .get(200, &format!("/v0.2/browse/religion?take=13&page={page}"))
            .await;
        assert_eq!(response.json["pagination"]["total_results"], total);
        let found: Vec<BrowseItem> = serde_json::from_value(response.json["nonprofits"].clone()).unwrap();
        seen.extend(found.iter().map(|item| item.id));
        let line = format!(
            r#"{{"ein":"9999999{page:02}","name":"Dancers {page}","causes":["dance"],"revenue":9000000}}"#
        );
        world.import_nonprofits(&line).await.unwrap();
        if page % 2 == 0 {
            world.app.directory.rebuild().await.unwrap();
        }
    }
    assert_eq!(seen, before.iter().map(|item| item.id).collect::<Vec<_>>());
}

async fn the_first_page_lists_the_ten_most_prominent_nonprofits(world: &World) {
    world.load_demo().await;
    let response = world.client.get(200, "/v0.2/browse/EDUCATION").await;
    let pagination = &response.json["pagination"];
    assert_eq!(
        (&pagination["page"], &pagination["page_size"]),
        (&1.into(), &10.into())
    );
    assert_eq!(response.json["nonprofits"].as_array().unwrap().len(), 10);
    assert_eq!(response.header("ratelimit-policy"), "\"browse\";q=500;w=60");
    let view = world.app.directory.view();
    let prominence = |index: &str| {
        view.snapshot
            .as_ref()
            .unwrap()
            .nonprofit(index.parse().unwrap())
            .unwrap()
            .prominence
    };
    assert!(prominence("0") >= prominence("1"));
}

async fn invalid_parameters_and_unknown_causes_are_rejected(world: &World) {
    world.load_demo().await;
    assert_eq!(
        world.client.get(404, "/v0.2/browse/nonsense").await.code(),
        "unknown_cause"
    );
    for bad in ["page=0", "page=-1", "page=x", "take=0", "take=x"] {
        assert_eq!(
            world
                .client
                .get(400, &format!("/v0.2/browse/animals?{bad}"))
                .await
                .code(),
            "invalid_parameter"
        );
    }
    let past = world
        .client
        .get(200, "/v0.2/browse/animals?page=99999999999999999999999&take=500")
        .await;
    assert_eq!(past.json["nonprofits"], serde_json::json!([]));
    assert_eq!(past.json["pagination"]["page_size"], 100);
    assert!(past.json["pagination"]["total_results"].as_u64().unwrap() > 0);
}

async fn causes_are_listed_with_their_nonprofit_counts(world: &World) {
    world.load_demo().await;
    let response = world.client.get(200, "/v0.2/causes").await;
    let causes = response.json["causes"].as_array().unwrap();
    assert_eq!(causes.len(), Causes::built_in().list().len());
    for cause in causes {
        let name = cause["tagName"].as_str().unwrap();
        let page = world
            .client
            .get(200, &format!("/v0.2/browse/{name}?take=1"))
            .await;
        assert_eq!(
            page.json["pagination"]["total_results"], cause["nonprofits"],
            "{name}"
        );
        for field in ["causeCategory", "title", "tagUrl", "tagImageUrl"] {
            assert!(cause[field].is_string(), "{name} {field}");
        }
    }
}
