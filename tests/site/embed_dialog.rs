//! The checkout in a dialog on the page of a partner, and the thermometer of a fundraiser.

use super::feeds::create_fundraiser;
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use axum::http::Method;

on_both_databases!(
    only_the_checkout_is_shown_in_frames_and_only_of_proven_origins,
    a_script_learns_whether_its_page_may_show_the_dialog,
    a_thermometer_shows_how_much_a_fundraiser_has_raised,
    the_embed_page_generates_a_thermometer_and_a_button_with_a_dialog,
);

const ADD: &str = "/dashboard/settings/origins";
/// In test mode, registered origins on the visitor's own machine need no proof.
const PARTNER: &str = "http://localhost:4321";
const EMBED: &str = "embed=http%3A%2F%2Flocalhost%3A4321";
const UNPROVEN: &str = "https://shop.causeway.test";

async fn register_origins(world: &World) -> Visitor {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("paula").await;
    for origin in [PARTNER, UNPROVEN] {
        visitor.post(303, ADD, &[("origin", origin)]).await;
    }
    visitor
}

async fn only_the_checkout_is_shown_in_frames_and_only_of_proven_origins(world: &World) {
    let visitor = register_origins(world).await;
    let none = "frame-ancestors 'none'";
    let partner = format!("frame-ancestors {PARTNER};");
    for (query, ancestors) in [
        ("", none),
        ("?embed=https%3A%2F%2Fshop.causeway.test", none),
        ("?embed=http%3A%2F%2Flocalhost%3A4322", none),
        ("?embed=*", none),
        ("?embed=https%3A%2F%2Fa.example%3B%20script-src%20*", none),
        (&format!("?{EMBED}"), &partner),
    ] {
        let form = visitor
            .get(200, &format!("/american-red-cross/give{query}"))
            .await;
        let policy = form.header("content-security-policy");
        assert!(policy.contains(ancestors), "{query}: {policy}");
        assert_eq!(policy.matches("frame-ancestors").count(), 1, "{policy}");
        assert_eq!(
            form.text().contains("slim embedded"),
            ancestors != none,
            "{query}"
        );
    }
    for url in [
        "/",
        "/search?q=red",
        "/american-red-cross",
        "/american-red-cross/report",
        "/developers/embed",
        "/dashboard/settings",
        "/no/such/page",
    ] {
        let separator = if url.contains('?') { '&' } else { '?' };
        let (_, page) = world.client.get_any(&format!("{url}{separator}{EMBED}")).await;
        let policy = page.header("content-security-policy");
        assert!(policy.contains(none), "{url}: {policy}");
    }

    // The whole checkout stays in the dialog, up to the receipt, which no partner URL replaces.
    let give = format!("/american-red-cross/give?{EMBED}&success_url=http%3A%2F%2Flocalhost%3A4321%2Fthanks");
    let form = visitor.get(200, &give).await.text();
    let action = format!("action=\"{}\"", give.replace('&', "&#38;"));
    assert!(form.contains(&action), "{action} is not on {form}");
    let once = hidden(&form, "once");
    let refused = visitor
        .post(422, &give, &[("amount", "x"), ("once", once.as_str())])
        .await;
    assert!(refused.header("content-security-policy").contains(&partner));
    let started = visitor
        .post(303, &give, &[("amount", "20"), ("once", once.as_str())])
        .await;
    let pay = started.header("location").to_owned();
    assert!(pay.starts_with("/donations/") && pay.contains("?embed="), "{pay}");
    let page = visitor.get(200, &pay).await;
    assert!(page.header("content-security-policy").contains(&partner));
    assert!(
        page.text().contains(&format!("action=\"{pay}\"")),
        "{}",
        page.text()
    );
    let paid = visitor.post(303, &pay, &[("card", "4242424242424242")]).await;
    assert_eq!(paid.header("location"), pay);
    let receipt = visitor.get(200, &pay).await;
    assert!(receipt.header("content-security-policy").contains(&partner));
    assert!(
        receipt.text().contains("Thank you") && receipt.text().contains("slim embedded"),
        "{}",
        receipt.text()
    );
    let (path, _) = pay.split_once('?').unwrap();
    let receipt = visitor.get(200, path).await;
    assert!(receipt.header("content-security-policy").contains(none));

    // An origin that is removed can no longer show it.
    visitor
        .post(303, "/dashboard/settings/origins/remove", &[("origin", PARTNER)])
        .await;
    let form = visitor.get(200, &give).await;
    assert!(form.header("content-security-policy").contains(none));
}

async fn a_script_learns_whether_its_page_may_show_the_dialog(world: &World) {
    let _visitor = register_origins(world).await;
    for (origin, expected) in [
        (Some(PARTNER), true),
        (Some(UNPROVEN), false),
        (Some("http://localhost:4322"), false),
        (Some("null"), false),
        (None, false),
    ] {
        let headers: Vec<_> = origin.iter().map(|origin| ("origin", *origin)).collect();
        let answer = world
            .client
            .send(200, &Method::GET, "/embed/origin", &headers)
            .await;
        assert_eq!(answer.json["dialog"], expected, "{origin:?}");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert_eq!(answer.header("vary"), "origin");
    }
}

async fn a_thermometer_shows_how_much_a_fundraiser_has_raised(world: &World) {
    world.load_demo().await;
    let (slug, _) = create_fundraiser(world, "Spring run", "").await;
    let url = format!("/embed/fundraisers/american-red-cross/{slug}");
    let new = world.client.get_plain(200, &url).await;
    assert_eq!(new.json["percent"], 0);
    assert_eq!(new.json["isOpen"], true);
    assert_eq!(new.header("access-control-allow-origin"), "*");
    assert_eq!(new.header("cache-control"), "public, max-age=60");
    let visitor = Visitor::new(world);
    let give = format!("/american-red-cross/f/{slug}/give");
    let form = visitor.get(200, &give).await.text();
    let fields = [
        ("amount", "25"),
        ("public", "no"),
        ("once", &hidden(&form, "once")),
    ];
    let pay = visitor
        .post(303, &give, &fields)
        .await
        .header("location")
        .to_owned();
    visitor.post(303, &pay, &[("card", "4242424242424242")]).await;
    world.app.giving.fundraisers.refresh().await.unwrap();
    let raised = world.client.get_plain(200, &url).await;
    for (name, value) in [
        ("title", "Spring run"),
        ("raised", "$25.00"),
        ("ofGoal", "of $100.00"),
        ("supporters", "1 supporter"),
        ("notice", "Test mode"),
    ] {
        assert_eq!(raised.json[name], value, "{:?}", raised.json);
    }
    assert_eq!(raised.json["percent"], 25);
    world
        .client
        .get_plain(404, "/embed/fundraisers/american-red-cross/nothing")
        .await;
    world
        .execute("update fundraisers set hidden_at = 1 where slug = 'spring-run'")
        .await;
    let (app, client) = world.restart().await;
    client.get_plain(404, &url).await;
    app.db.close().await;
}

async fn the_embed_page_generates_a_thermometer_and_a_button_with_a_dialog(world: &World) {
    world.load_demo().await;
    let (slug, _) = create_fundraiser(world, "Spring run", "").await;
    let page = async |query: &str| {
        let url = format!("/developers/embed?{query}");
        world.client.get_plain(200, &url).await.text()
    };
    for fundraiser in [
        format!("http%3A%2F%2Fcauseway.test%2Famerican-red-cross%2Ff%2F{slug}"),
        format!("%2Famerican-red-cross%2Ff%2F{slug}%2F%3Fa%3Db"),
        format!("530196605%2Ff%2F{slug}"),
    ] {
        let page = page(&format!("kind=thermometer&scheme=dark&fundraiser={fundraiser}")).await;
        assert!(
            page.contains(&format!(
                "<a href=\"/american-red-cross/f/{slug}\" data-causeway-thermometer data-scheme=\"dark\">Spring run</a>"
            )),
            "{page}"
        );
        assert!(
            page.contains("<script src=\"/embed/thermometer.js\" async>"),
            "{page}"
        );
    }
    let unknown = page("kind=thermometer&fundraiser=%22%3E%3Cb%3E").await;
    assert!(
        unknown.contains("We could not find this fundraiser") && !unknown.contains("<b>"),
        "{unknown}"
    );
    assert!(
        page("kind=thermometer")
            .await
            .contains("Enter the URL of a fundraiser")
    );
    let button = page("kind=button&dialog=1&scheme=auto&amounts=5").await;
    assert!(
        button.contains("data-causeway-button data-dialog data-amounts=\"5\" data-scheme=\"auto\""),
        "{button}"
    );
}
