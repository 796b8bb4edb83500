//! Usage on the dashboard.

use super::visitor::{Visitor, between};
use crate::world::World;

on_both_databases!(the_chart_the_table_and_the_csv_file_agree,);

async fn the_chart_the_table_and_the_csv_file_agree(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    assert!(
        visitor
            .get(200, "/dashboard/usage")
            .await
            .text()
            .contains("No calls yet")
    );
    let caller = world
        .client
        .with_key(&visitor.create_key("public", "=website").await);
    for _ in 0..3 {
        caller.details(200, "530196605").await;
    }
    caller.details(404, "nobody-at-all").await;
    world.app.save_counts().await.unwrap();
    for span in ["", "?span=24h", "?span=30d", "?span=12mo", "?span=%00"] {
        let page = visitor.get(200, &format!("/dashboard/usage{span}")).await.text();
        assert_eq!(between(&page, "id=\"served\">", "<").unwrap(), "3", "{span}");
        assert_eq!(between(&page, "id=\"failed\">", "<").unwrap(), "1", "{span}");
        assert!(page.contains("<svg class=\"chart\"") && page.contains("<td class=\"number\">3</td>"));
        assert!(
            page.contains("<code>/v0.2/nonprofit/{identifier}</code>"),
            "{page}"
        );
        assert!(page.contains("UTC"), "the zone is named: {page}");
    }
    let list = visitor.get(200, "/dashboard").await.text();
    assert!(list.contains("<dd>4</dd>") && list.contains("just now"), "{list}");
    let file = visitor.get(200, "/dashboard/usage.csv").await;
    assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
    assert!(
        file.text()
            .contains("\"'=website\",\"/v0.2/nonprofit/{identifier}\",3,1,0,0"),
        "{}",
        file.text()
    );
    let id = between(&list, "id=\"key-", "\"").unwrap();
    let of_key = visitor.get(200, &format!("/dashboard/usage.csv?key={id}")).await;
    assert_eq!(of_key.text(), file.text());
    visitor
        .get(404, &format!("/dashboard/usage.csv?key={}", world.key_id))
        .await;
    let page = visitor
        .get(200, &format!("/dashboard/keys/{id}?span=30d"))
        .await
        .text();
    assert_eq!(between(&page, "id=\"served\">", "<").unwrap(), "3");
}
