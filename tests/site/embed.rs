//! The scripts that other sites embed, and the page that generates the snippet.

use crate::world::World;
use access::keys::{KeyText, Kind};

on_both_databases!(
    embed_scripts_load_on_any_site_and_are_cached_for_an_hour,
    the_embed_page_generates_a_button_snippet,
    the_search_snippet_needs_a_public_key_and_never_shows_a_private_one,
);

async fn embed_scripts_load_on_any_site_and_are_cached_for_an_hour(world: &World) {
    for name in ["button", "search", "thermometer"] {
        let script = world.client.get_plain(200, &format!("/embed/{name}.js")).await;
        assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
        assert_eq!(script.header("access-control-allow-origin"), "*");
        assert_eq!(script.header("cross-origin-resource-policy"), "cross-origin");
        assert_eq!(script.header("cache-control"), "public, max-age=3600");
        assert!(script.body.len() < 10_000);
        assert!(!script.headers.contains_key("set-cookie"));
        let tag = script.header("etag").to_owned();
        let if_none_match = [("if-none-match", tag.as_str())];
        let again = world
            .client
            .send(
                304,
                &axum::http::Method::GET,
                &format!("/embed/{name}.js"),
                &if_none_match,
            )
            .await;
        assert!(again.body.is_empty());
    }
    world.client.get_plain(404, "/embed/other.js").await;
}

async fn the_embed_page_generates_a_button_snippet(world: &World) {
    world.load_demo().await;
    let page = world.client.get_plain(200, "/developers/embed").await.text();
    assert!(
        page.contains(
            "&#60;a href=&#34;http://causeway.test/american-red-cross&#34; data-causeway-button&#62;"
        ),
        "{page}"
    );
    assert!(
        page.contains("&#60;script src=&#34;http://causeway.test/embed/button.js&#34; async&#62;"),
        "{page}"
    );
    assert!(
        page.contains("<a href=\"/american-red-cross\" data-causeway-button>Give to American Red Cross</a>"),
        "{page}"
    );
    let page = world
        .client
        .get_plain(
            200,
            "/developers/embed?nonprofit=53-0196605&scheme=dark&amounts=5,+15",
        )
        .await
        .text();
    assert!(
        page.contains("data-amounts=\"5,15\" data-scheme=\"dark\""),
        "{page}"
    );
    let page = world
        .client
        .get_plain(200, "/developers/embed?nonprofit=red+cross&scheme=dark")
        .await
        .text();
    assert!(
        page.contains("Which one") && page.contains("nonprofit=american%2Dred%2Dcross&#38;scheme=dark"),
        "{page}"
    );
    let page = world
        .client
        .get_plain(200, "/developers/embed?nonprofit=zzqqxx")
        .await
        .text();
    assert!(page.contains("We could not find this nonprofit"), "{page}");
    let page = world
        .client
        .get_plain(200, "/developers/embed?nonprofit=aarp")
        .await
        .text();
    assert!(page.contains("cannot receive donations"), "{page}");
    let page = world
        .client
        .get_plain(
            200,
            "/developers/embed?nonprofit=%22%3E%3Cscript%3E&amounts=%22%3E%3Cb%3E&key=%3Cb%3E",
        )
        .await
        .text();
    assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
}

async fn the_search_snippet_needs_a_public_key_and_never_shows_a_private_one(world: &World) {
    world.load_demo().await;
    let page = world
        .client
        .get_plain(200, "/developers/embed?kind=search")
        .await
        .text();
    assert!(
        page.contains("needs a public key") && !page.contains("/embed/search.js"),
        "{page}"
    );
    let page = world
        .client
        .get_plain(200, "/developers/embed?kind=search&key=cwpk_x")
        .await
        .text();
    assert!(page.contains("This is not a valid key"), "{page}");
    let private = KeyText::generate(Kind::Private);
    let page = world
        .client
        .get_plain(
            200,
            &format!("/developers/embed?kind=search&key={}", private.expose()),
        )
        .await
        .text();
    assert!(
        page.contains("That was a private key") && !page.contains(private.expose()),
        "{page}"
    );
    let page = world
        .client
        .get_plain(
            200,
            &format!("/developers/embed?kind=search&key={}", world.client.key),
        )
        .await
        .text();
    assert!(
        page.contains(&format!(
            "<a href=\"/search\" data-causeway-search data-key=\"{}\">",
            world.client.key
        )),
        "{page}"
    );
}
