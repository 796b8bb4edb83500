//! Donate links of partners: their parameters are honored, and donors are redirected only to registered origins.

use crate::dashboard::visitor::{Visitor, between, hidden};
use crate::world::World;
use access::audit::Actor;
use access::origins::{Origin, store};

on_both_databases!(
    every_parameter_of_a_donate_link_is_honored,
    donors_are_never_redirected_to_an_unregistered_origin,
    a_removed_origin_stops_working_immediately,
    oversized_partner_parameters_are_refused_with_a_clear_page,
    a_profile_passes_its_link_parameters_to_the_form,
    a_partner_registers_origins_on_the_dashboard,
);

const GIVE: &str = "/american-red-cross/give";
const VALID_CARD: &str = "4242424242424242";
const SHOP: &str = "https://shop.example.org";

async fn register(world: &World, origin: &str) {
    let (origin, now) = (Origin::parse(origin).unwrap(), world.app.clock.millis());
    store::insert(&world.app.db, world.account, &origin, now)
        .await
        .unwrap();
    store::allow(
        &world.app.db,
        (world.account, "ada"),
        &origin,
        Actor::Command,
        now,
    )
    .await
    .unwrap();
}

/// Starts a donation from a link and returns the path of its payment page.
async fn start(visitor: &Visitor, query: &str) -> String {
    let url = format!("{GIVE}?{query}");
    let form = visitor.get(200, &url).await.text();
    let fields = [("amount", "20"), ("once", &hidden(&form, "once"))];
    let response = visitor.post(303, &url, &fields).await;
    response.header("location").to_owned()
}

async fn every_parameter_of_a_donate_link_is_honored(world: &World) {
    world.load_demo().await;
    register(world, SHOP).await;
    let visitor = Visitor::new(world);
    let query = "amount=20&suggestedAmounts=7,77&min_value=5&frequency=monthly&email=ada%40example.org\
         &first_name=Ada&last_name=L&description=For+the+river&designation=boats&partner_donation_id=order-17\
         &partner_metadata=%7B%22a%22%3A1%7D&success_url=https%3A%2F%2Fshop.example.org%2Fthanks%3Fx%3D1\
         &exit_url=https%3A%2F%2Fshop.example.org%2Fcart";
    let form = visitor.get(200, &format!("{GIVE}?{query}")).await.text();
    for expected in [
        "value=\"20\"",
        "$7<",
        "$77<",
        "value=\"monthly\" checked",
        "value=\"ada@example.org\"",
        "value=\"Ada L\"",
        "For the river",
        "boats",
        "https://shop.example.org/cart?partner_donation_id=order-17&#38;partner_metadata=%7B%22a%22%3A1%7D",
        "Return to shop.example.org",
    ] {
        assert!(form.contains(expected), "{expected}: {form}");
    }
    assert!(!form.contains("that we have not verified"), "{form}");
    // 20 is not among the suggested amounts, so it is filled in as another one.
    assert!(form.contains("value=\"other\" checked"), "{form}");
    let url = format!("{GIVE}?{query}");
    let few = [
        ("amount", "4"),
        ("once", &hidden(&form, "once")),
        ("name", "Eve & Co"),
    ];
    let again = visitor.post(422, &url, &few).await.text();
    for expected in [
        "Enter $5.00 or more",
        "For the river",
        "value=\"Eve &#38; Co\"",
        "$77<",
        "success_url=",
    ] {
        assert!(again.contains(expected), "{expected}: {again}");
    }
    let donation = start(&visitor, query).await;
    let page = visitor.get(200, &donation).await;
    assert!(
        page.header("content-security-policy")
            .contains("form-action 'self' https://shop.example.org;")
    );
    assert!(page.text().contains("order-17") && page.text().contains("boats"));
    let paid = visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
    let back = paid.header("location").to_owned();
    let id = between(&back, "donation_id=", "&").unwrap();
    let query = format!("donation_id={id}&partner_donation_id=order-17&partner_metadata=%7B%22a%22%3A1%7D");
    assert_eq!(back, format!("{SHOP}/thanks?x=1&{query}"));
    let paid = visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
    assert_eq!(paid.header("location"), back);
    let receipt = visitor.get(200, &donation).await.text();
    assert!(
        receipt.contains("Thank you") && receipt.contains(&back.replace('&', "&#38;")),
        "{receipt}"
    );
    let mut export = Vec::new();
    let format = giving::export::Format::JsonLines;
    giving::export::export(&world.app.db, format, &mut export)
        .await
        .unwrap();
    let line: serde_json::Value = serde_json::from_slice(&export).unwrap();
    assert_eq!(line["partnerDonationId"], "order-17");
    assert_eq!(line["externalId"], id);
    // The ID that partners and exports have does not open the receipt.
    visitor.get(404, &format!("/donations/{id}")).await;
    visitor.post(404, &format!("/donations/{id}"), &[]).await;
    let receipt_id = donation.strip_prefix("/donations/").unwrap();
    assert_ne!(id, receipt_id);
    let export = String::from_utf8(export).unwrap();
    assert!(
        !export.contains(receipt_id) && !back.contains(receipt_id),
        "{export}"
    );
    assert_eq!(line["partnerMetadata"], "{\"a\":1}");
    assert_eq!(line["designation"], "boats");
}

async fn donors_are_never_redirected_to_an_unregistered_origin(world: &World) {
    world.load_demo().await;
    register(world, SHOP).await;
    register(world, "http://localhost:3000").await;
    let visitor = Visitor::new(world);
    for hostile in [
        "https%3A%2F%2Fevil.example%2F",
        "%2F%2Fevil.example",
        "%5C%5Cevil.example",
        "https%3Aevil.example",
        "javascript%3Aalert(1)",
        "https%3A%2F%2Fshop.example.org%40evil.example%2F",
        "http%3A%2F%2Fshop.example.org%2F",
        "https%3A%2F%2Fshop.example.org%5C%40evil.example",
        "https%3A%2F%2Fshop.example.org%3A8443%2F",
        "https%3A%2F%2Fshop%E3%80%82example.org%2F",
        "https%3A%2F%2Fevil.shop.example.org",
        "http%3A%2F%2Flocalhost%3A3001",
        "https%3A%2F%2Fshop.example.org.evil.example",
        "data%3Atext%2Fhtml%2Cx",
        "%2Fdashboard",
    ] {
        let query = format!("success_url={hostile}&exit_url={hostile}");
        let form = visitor.get(200, &format!("{GIVE}?{query}")).await.text();
        assert!(form.contains("that we have not verified"), "{hostile}: {form}");
        let donation = start(&visitor, &query).await;
        let page = visitor.get(200, &donation).await;
        assert!(
            page.header("content-security-policy")
                .contains("form-action 'self';"),
            "{hostile}"
        );
        let paid = visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
        assert_eq!(paid.header("location"), donation, "{hostile}");
        let receipt = visitor.get(200, &donation).await.text();
        assert!(
            receipt.contains("Thank you") && receipt.contains("that we have not verified"),
            "{receipt}"
        );
        assert!(
            !receipt.contains("evil") && !receipt.contains("javascript:"),
            "{receipt}"
        );
    }
    let donation = start(&visitor, "success_url=http%3A%2F%2FLOCALHOST%3A3000").await;
    let paid = visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
    assert!(
        paid.header("location")
            .starts_with("http://localhost:3000/?donation_id=")
    );
    // Line breaks are removed, so that the rest still leads to the partner.
    let donation = start(
        &visitor,
        "success_url=https%3A%2F%2Fshop.example.org%2F%0D%0ASet-Cookie",
    )
    .await;
    let paid = visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
    assert!(
        paid.header("location")
            .starts_with("https://shop.example.org/Set-Cookie?donation_id=")
    );
}

async fn a_removed_origin_stops_working_immediately(world: &World) {
    world.load_demo().await;
    register(world, SHOP).await;
    let visitor = Visitor::new(world);
    let donation = start(&visitor, "success_url=https%3A%2F%2Fshop.example.org").await;
    store::remove(&world.app.db, world.account, SHOP).await.unwrap();
    let paid = visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
    assert_eq!(paid.header("location"), donation);
    assert!(
        visitor
            .get(200, &donation)
            .await
            .text()
            .contains("that we have not verified")
    );
}

async fn oversized_partner_parameters_are_refused_with_a_clear_page(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let most = "x".repeat(2_000);
    start(&visitor, &format!("partner_metadata={most}")).await;
    for (name, length) in [
        ("partner_metadata", 2_001),
        ("success_url", 2_001),
        ("exit_url", 2_001),
        ("partner_donation_id", 256),
    ] {
        let url = format!("{GIVE}?{name}={}", "x".repeat(length));
        let page = visitor.get(400, &url).await.text();
        assert!(page.contains(name) && page.contains("characters"), "{page}");
        visitor
            .post(
                400,
                &url,
                &[("amount", "5"), ("once", "0190f5a0-0000-7000-8000-000000000003")],
            )
            .await;
    }
    assert_eq!(world.texts("select state from donations").await, ["started"]);
}

async fn a_profile_passes_its_link_parameters_to_the_form(world: &World) {
    world.load_demo().await;
    let page = world
        .client
        .get_plain(200, "/american-red-cross?amount=7.50&designation=%22boats%22&x=1")
        .await
        .text();
    assert!(page.contains("value=\"7.50\""), "{page}");
    assert!(
        page.contains("<input type=\"hidden\" name=\"designation\" value=\"&#34;boats&#34;\">"),
        "{page}"
    );
    assert!(!page.contains("name=\"x\""));
}

async fn a_partner_registers_origins_on_the_dashboard(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("paula").await;
    let add = "/dashboard/settings/origins";
    for bad in [
        "",
        "shop.example.org",
        "http://shop.example.org",
        "https://shop.example.org/path",
        "javascript:alert(1)",
        "https://<b>",
    ] {
        let page = visitor.post(422, add, &[("origin", bad)]).await.text();
        assert!(
            page.contains("Enter https:// and a host") && !page.contains("<b>"),
            "{bad}: {page}"
        );
    }
    for _ in 0..2 {
        visitor
            .post(303, add, &[("origin", "https://Shop.example.org/")])
            .await;
    }
    let page = visitor.get(200, "/dashboard/settings").await.text();
    assert!(page.contains("<code>https://shop.example.org</code>"), "{page}");
    assert_eq!(world.texts("select origin from partner_origins").await, [SHOP]);
    for number in 1..20 {
        visitor
            .post(
                303,
                add,
                &[("origin", &format!("https://shop{number}.example.org"))],
            )
            .await;
    }
    let full = visitor
        .post(422, add, &[("origin", "https://one-more.example.org")])
        .await
        .text();
    assert!(full.contains("reached the limit of 20 origins"), "{full}");
    let other = Visitor::new(world);
    other.sign_up("otto").await;
    let remove = "/dashboard/settings/origins/remove";
    other.post(303, remove, &[("origin", SHOP)]).await;
    assert_eq!(world.texts("select origin from partner_origins").await.len(), 20);
    visitor.post(303, remove, &[("origin", SHOP)]).await;
    assert_eq!(world.texts("select origin from partner_origins").await.len(), 19);
    visitor
        .post(
            303,
            "/dashboard/settings/delete",
            &[("current", crate::dashboard::visitor::PASSWORD)],
        )
        .await;
    assert!(world.texts("select origin from partner_origins").await.is_empty());
}
