//! Links of partners: what they ask for is honoured, and people are led back only to where a partner is at home.

use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use causeway::partners::{Origin, store};

on_both_databases!(
    every_parameter_of_a_donate_link_is_honoured,
    nobody_is_led_to_where_no_partner_is_at_home,
    an_origin_that_was_taken_back_is_left_at_once,
    words_that_are_too_long_to_be_given_back_are_refused_on_a_clear_page,
    a_page_hands_what_its_link_asked_for_on_to_the_form,
    a_partner_registers_origins_on_the_dashboard,
);

const GIVE: &str = "/american-red-cross/give";
const WORKS: &str = "4242424242424242";
const SHOP: &str = "https://shop.example.org";

async fn register(world: &World, origin: &str) {
    let origin = Origin::parse(origin).unwrap();
    store::insert(&world.app.db, world.account, &origin, world.app.clock.millis())
        .await
        .unwrap();
}

/// Starts a gift by a link; the address of its page.
async fn start(visitor: &Visitor, query: &str) -> String {
    let address = format!("{GIVE}?{query}");
    let form = visitor.get(200, &address).await.text();
    let fields = [("amount", "20"), ("once", &hidden(&form, "once"))];
    let answer = visitor.post(303, &address, &fields).await;
    answer.header("location").to_owned()
}

async fn every_parameter_of_a_donate_link_is_honoured(world: &World) {
    world.load_demo().await;
    register(world, SHOP).await;
    let visitor = Visitor::new(world);
    let query = "amount=20&suggestedAmounts=7,77&min_value=5&frequency=monthly&email=ada%40example.org\
         &first_name=Ada&last_name=L&description=For+the+river&designation=boats&partner_donation_id=order-17\
         &partner_metadata=%7B%22a%22%3A1%7D&success_url=https%3A%2F%2Fshop.example.org%2Fthanks%3Fx%3D1\
         &exit_url=https%3A%2F%2Fshop.example.org%2Fcart";
    let form = visitor.get(200, &format!("{GIVE}?{query}")).await.text();
    for told in [
        "value=\"20\"",
        "$7<",
        "$77<",
        "monthly gift is not possible",
        "value=\"ada@example.org\"",
        "value=\"Ada L\"",
        "For the river",
        "boats",
        "https://shop.example.org/cart?partner_donation_id=order-17&#38;partner_metadata=%7B%22a%22%3A1%7D",
        "Back to shop.example.org",
    ] {
        assert!(form.contains(told), "{told}: {form}");
    }
    assert!(!form.contains("nobody has registered"), "{form}");
    assert!(form.contains("amount=7&#38;suggestedAmounts=7,77"), "{form}");
    let address = format!("{GIVE}?{query}");
    let few = [
        ("amount", "4"),
        ("once", &hidden(&form, "once")),
        ("name", "Eve & Co"),
    ];
    let again = visitor.post(422, &address, &few).await.text();
    for told in [
        "at least $5.00",
        "For the river",
        "value=\"Eve &#38; Co\"",
        "$77<",
        "success_url=",
    ] {
        assert!(again.contains(told), "{told}: {again}");
    }
    let gift = start(&visitor, query).await;
    let page = visitor.get(200, &gift).await;
    assert!(
        page.header("content-security-policy")
            .contains("form-action 'self' https://shop.example.org;")
    );
    assert!(page.text().contains("order-17") && page.text().contains("boats"));
    let id = gift.strip_prefix("/gifts/").unwrap();
    let back = format!(
        "{SHOP}/thanks?x=1&gift_id={id}&partner_donation_id=order-17&partner_metadata=%7B%22a%22%3A1%7D"
    );
    for _ in 0..2 {
        let paid = visitor.post(303, &gift, &[("card", WORKS)]).await;
        assert_eq!(paid.header("location"), back);
    }
    let receipt = visitor.get(200, &gift).await.text();
    assert!(
        receipt.contains("Thank you") && receipt.contains(&back.replace('&', "&#38;")),
        "{receipt}"
    );
    let mut export = Vec::new();
    let format = causeway::donations::export::Format::JsonLines;
    causeway::donations::export::export(&world.app, format, &mut export)
        .await
        .unwrap();
    let line: serde_json::Value = serde_json::from_slice(&export).unwrap();
    assert_eq!(line["partnerDonationId"], "order-17");
    assert_eq!(line["partnerMetadata"], "{\"a\":1}");
    assert_eq!(line["designation"], "boats");
}

async fn nobody_is_led_to_where_no_partner_is_at_home(world: &World) {
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
        assert!(form.contains("nobody has registered"), "{hostile}: {form}");
        let gift = start(&visitor, &query).await;
        let page = visitor.get(200, &gift).await;
        assert!(
            page.header("content-security-policy")
                .contains("form-action 'self';"),
            "{hostile}"
        );
        let paid = visitor.post(303, &gift, &[("card", WORKS)]).await;
        assert_eq!(paid.header("location"), gift, "{hostile}");
        let receipt = visitor.get(200, &gift).await.text();
        assert!(
            receipt.contains("Thank you") && receipt.contains("nobody has registered"),
            "{receipt}"
        );
        assert!(
            !receipt.contains("evil") && !receipt.contains("javascript:"),
            "{receipt}"
        );
    }
    let gift = start(&visitor, "success_url=http%3A%2F%2FLOCALHOST%3A3000").await;
    let paid = visitor.post(303, &gift, &[("card", WORKS)]).await;
    let id = gift.strip_prefix("/gifts/").unwrap();
    assert_eq!(
        paid.header("location"),
        format!("http://localhost:3000/?gift_id={id}")
    );
    // A line break never gets so far as to be kept: what is left of it leads to the partner alone.
    let gift = start(
        &visitor,
        "success_url=https%3A%2F%2Fshop.example.org%2F%0D%0ASet-Cookie",
    )
    .await;
    let paid = visitor.post(303, &gift, &[("card", WORKS)]).await;
    assert!(
        paid.header("location")
            .starts_with("https://shop.example.org/Set-Cookie?gift_id=")
    );
}

async fn an_origin_that_was_taken_back_is_left_at_once(world: &World) {
    world.load_demo().await;
    register(world, SHOP).await;
    let visitor = Visitor::new(world);
    let gift = start(&visitor, "success_url=https%3A%2F%2Fshop.example.org").await;
    store::remove(&world.app.db, world.account, SHOP).await.unwrap();
    let paid = visitor.post(303, &gift, &[("card", WORKS)]).await;
    assert_eq!(paid.header("location"), gift);
    assert!(
        visitor
            .get(200, &gift)
            .await
            .text()
            .contains("nobody has registered")
    );
}

async fn words_that_are_too_long_to_be_given_back_are_refused_on_a_clear_page(world: &World) {
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
        let address = format!("{GIVE}?{name}={}", "x".repeat(length));
        let page = visitor.get(400, &address).await.text();
        assert!(page.contains(name) && page.contains("characters"), "{page}");
        visitor
            .post(
                400,
                &address,
                &[("amount", "5"), ("once", "0190f5a0-0000-7000-8000-000000000003")],
            )
            .await;
    }
    assert_eq!(world.texts("select state from gifts").await, ["started"]);
}

async fn a_page_hands_what_its_link_asked_for_on_to_the_form(world: &World) {
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
            page.contains("Write https:// and a host") && !page.contains("<b>"),
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
    assert!(full.contains("that is the most"), "{full}");
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
