//! Donations that are paid on another site: the operator's link or the nonprofit's own.

use super::feeds::create_fundraiser;
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use giving::providers::Provider;
use platform::db::Db;
use uuid::Uuid;

on_both_databases!(
    donors_are_redirected_to_the_configured_link_and_nothing_is_charged,
    the_link_of_a_nonprofit_takes_precedence,
    the_site_that_charges_is_named_once_before_the_donor_pays,
    without_a_provider_every_page_leads_to_the_site_of_the_nonprofit,
    an_unreachable_provider_loses_nothing_and_charges_nothing_twice,
);

/// A visitor of a server with the same database that redirects donors to a link.
async fn visitor_of_link_provider(world: &World) -> Visitor {
    let link = "https://pay.example.org/{ein}?a={amount}&g={donation}&s={slug}";
    let (_, client) = world.with_provider(Provider::Link(link.to_owned())).await;
    Visitor::with_client(&client)
}

async fn start(visitor: &Visitor, slug: &str) -> String {
    let form = visitor.get(200, &format!("/{slug}/give")).await.text();
    let fields = [("amount", "12.50"), ("once", &hidden(&form, "once"))];
    let response = visitor.post(303, &format!("/{slug}/give"), &fields).await;
    response.header("location").to_owned()
}

/// The ID of the only donation, as others get it.
async fn donation_id(world: &World) -> String {
    let id = match &world.app.db {
        Db::Sqlite { .. } => world.texts("select lower(hex(id)) from donations").await,
        Db::Postgres(_) => world.texts("select cast(id as text) from donations").await,
    };
    Uuid::parse_str(&id[0]).unwrap().to_string()
}

async fn donors_are_redirected_to_the_configured_link_and_nothing_is_charged(world: &World) {
    world.load_demo().await;
    let visitor = visitor_of_link_provider(world).await;
    let donation = start(&visitor, "american-red-cross").await;
    let id = donation_id(world).await;
    assert!(!donation.contains(&id), "{donation} opens the receipt");
    let page = visitor.get(200, &donation).await.text();
    let url = format!("https://pay.example.org/530196605?a=12%2E50&#38;g={id}&#38;s=american%2Dred%2Dcross");
    assert!(page.contains(&url) && !page.contains("Test mode"), "{page}");
    visitor
        .post(303, &donation, &[("card", "4242424242424242")])
        .await;
    assert_eq!(
        world
            .texts("select state || ' ' || provider from donations")
            .await,
        ["started link"]
    );
    assert!(world.texts("select source from ledger_entries").await.is_empty());
}

/// The text of a page without its tags, so without URLs.
fn visible(page: &str) -> String {
    let main = page.split_once("<main").unwrap().1;
    let main = main.split_once("</main>").unwrap().0;
    let parts = main.split('<').filter_map(|part| Some(part.split_once('>')?.1));
    parts.collect::<Vec<_>>().join(" ")
}

async fn the_site_that_charges_is_named_once_before_the_donor_pays(world: &World) {
    world.load_demo().await;
    let visitor = visitor_of_link_provider(world).await;
    let form = visitor.get(200, "/american-red-cross/give").await.text();
    let note = form.find("Where your money goes").unwrap();
    assert!(
        note < form.rfind("Continue to payment</button>").unwrap(),
        "{form}"
    );
    assert_eq!(visible(&form).matches("pay.example.org").count(), 1, "{form}");
    let donation = start(&visitor, "american-red-cross").await;
    let page = visitor.get(200, &donation).await.text();
    assert!(page.contains(">Continue to pay.example.org</a>"), "{page}");
    assert_eq!(visible(&page).matches("pay.example.org").count(), 1, "{page}");
}

async fn without_a_provider_every_page_leads_to_the_site_of_the_nonprofit(world: &World) {
    world.load_demo().await;
    let (slug, _) = create_fundraiser(world, "Spring run", "").await;
    let (_, client) = world.with_provider(Provider::Off).await;
    let fundraiser = format!("/american-red-cross/f/{slug}");
    for (status, path) in [
        (200, "/american-red-cross"),
        (404, "/american-red-cross/give"),
        (200, &*fundraiser),
        (404, &format!("{fundraiser}/give")),
    ] {
        let page = client.get_plain(status, path).await.text();
        let link = "<a class=\"button\" href=\"https://www.redcross.org\" rel=\"noopener nofollow\">Visit redcross.org</a>";
        assert!(page.contains(link), "{path}: {page}");
    }
}

async fn the_link_of_a_nonprofit_takes_precedence(world: &World) {
    world.load_demo().await;
    let line = r#"{"ein":"530196605","donateUrl":"https://give.redcross.example/?amount={amount}"}"#;
    world.import_nonprofits(line).await.unwrap();
    let visitor = visitor_of_link_provider(world).await;
    let donation = start(&visitor, "american-red-cross").await;
    let page = visitor.get(200, &donation).await.text();
    assert!(
        page.contains("https://give.redcross.example/?amount=12%2E50"),
        "{page}"
    );
    let details = world.client.details(200, "530196605").await;
    assert!(
        !String::from_utf8_lossy(&details.body).contains("redcross.example"),
        "only the pages of giving tell it"
    );
    world
        .import_nonprofits(r#"{"ein":"530196605","donateUrl":null}"#)
        .await
        .unwrap();
    assert!(
        visitor
            .get(200, &donation)
            .await
            .text()
            .contains("https://pay.example.org/530196605")
    );
    for bad in [
        "javascript:alert(1)",
        "//evil",
        "https://user@evil.example",
        "https://x",
    ] {
        let line = serde_json::json!({"ein": "530196605", "donateUrl": bad});
        let summary = world
            .import_nonprofits(&format!("{line}\n{{\"ein\":\"530196605\"}}\n"))
            .await;
        assert!(summary.is_err() || summary.unwrap().refused == 1, "{bad}");
    }
}

async fn an_unreachable_provider_loses_nothing_and_charges_nothing_twice(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let donation = start(&visitor, "american-red-cross").await;
    for _ in 0..3 {
        let page = visitor
            .post(503, &donation, &[("card", "4000 0000 0000 0119")])
            .await
            .text();
        for expected in [
            "cannot reach the payment provider",
            "You were not charged",
            "value=\"4000 0000 0000 0119\"",
            "$12.50",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
    assert_eq!(world.texts("select state from donations").await, ["started"]);
    for _ in 0..2 {
        visitor
            .post(303, &donation, &[("card", "4242424242424242")])
            .await;
    }
    visitor
        .post(303, &donation, &[("card", "4000 0000 0000 0119")])
        .await;
    assert_eq!(
        world
            .texts("select cast(amount as text) from ledger_entries")
            .await,
        ["1250"]
    );
}
