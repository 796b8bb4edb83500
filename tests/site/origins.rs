//! Redirect origins are used only after they are proven, or an operator allowed them.

use crate::client::Client;
use crate::dashboard::operator::operator;
use crate::dashboard::visitor::{Visitor, between};
use crate::dns::serve_record;
use crate::world::World;
use access::accounts::attempts::ORIGIN_CHECKS;
use access::origins::settings::AllowPrivate;
use causeway::app::App;
use causeway::config::Config;
use giving::providers::Provider;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

on_both_databases!(
    an_origin_works_only_after_its_file_is_found,
    an_origin_works_after_its_dns_record_is_found,
    an_origin_works_after_an_operator_allowed_it,
    checks_of_private_addresses_are_refused_and_throttled,
    localhost_needs_no_proof_in_test_mode,
    origins_of_a_suspended_account_stop_working,
);

const ADD: &str = "/dashboard/settings/origins";
const CHECK: &str = "/dashboard/settings/origins/check";
const SHOP: &str = "https://shop.causeway.test";

/// A server with other settings, on which payments are real, and a partner who is signed in there.
async fn partner(world: &World, change: impl FnOnce(&mut Config)) -> (App, Client, Visitor) {
    world.load_demo().await;
    let mut config = world.app.config.clone();
    config.giving = Provider::Link("https://pay.example.org".to_owned());
    config.origins.allow_private = AllowPrivate::Always;
    // No name server answers there.
    config.origins.dns_server = Some(([127, 0, 0, 1], 9).into());
    change(&mut config);
    let app = App::build(config).await.unwrap();
    let client = Client::new(&app, "");
    let visitor = Visitor::with_client(&client);
    visitor.sign_up("paula").await;
    (app, client, visitor)
}

/// Whether a donate link may redirect to an origin.
async fn is_used(client: &Client, origin: &str) -> bool {
    let url = utf8_percent_encode(origin, NON_ALPHANUMERIC);
    let form = client
        .get_plain(200, &format!("/american-red-cross/give?exit_url={url}%2Fthanks"))
        .await
        .text();
    let (is_refused, is_offered) = (
        form.contains("that we have not verified"),
        form.contains(&format!("{origin}/thanks")),
    );
    assert_ne!(is_refused, is_offered, "{form}");
    is_offered
}

/// The token that the settings page shows.
async fn token(visitor: &Visitor) -> String {
    let page = visitor.get(200, "/dashboard/settings").await.text();
    assert!(page.contains("Not proven yet"), "{page}");
    between(&page, "<dt>Token</dt><dd><code>", "<").unwrap_or_else(|| panic!("{page}"))
}

/// A site with one file, whose content can change. Returns its origin and the paths that were requested.
async fn serve_file(content: Arc<Mutex<String>>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    let paths = Arc::new(Mutex::new(Vec::new()));
    let requested = Arc::clone(&paths);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 1_024];
            let length = stream.read(&mut request).await.unwrap();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
            requested.lock().unwrap().push(path);
            let response = content.lock().unwrap().clone();
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    (origin, paths)
}

async fn an_origin_works_only_after_its_file_is_found(world: &World) {
    let (app, client, visitor) = partner(world, |_| {}).await;
    let content = Arc::new(Mutex::new("HTTP/1.1 404 Not Found\r\n\r\n".to_owned()));
    let (origin, paths) = serve_file(Arc::clone(&content)).await;
    visitor.post(303, ADD, &[("origin", &origin)]).await;
    let token = token(&visitor).await;
    let page = visitor.get(200, "/dashboard/settings").await.text();
    assert!(
        page.contains(&format!("{origin}/.well-known/causeway.txt")),
        "{page}"
    );
    assert!(!is_used(&client, &origin).await);
    for (response, error) in [
        ("HTTP/1.1 404 Not Found\r\n\r\n".to_owned(), "status 404"),
        (
            "HTTP/1.1 200 OK\r\n\r\nsomething else".to_owned(),
            "does not contain the token",
        ),
        (
            format!("HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n{token}"),
            "status 302",
        ),
        (
            format!("HTTP/1.1 200 OK\r\n\r\n{}", &token[1..]),
            "does not contain the token",
        ),
    ] {
        *content.lock().unwrap() = response;
        let page = visitor.post(422, CHECK, &[("origin", &origin)]).await.text();
        assert!(
            page.contains("We did not find the token") && page.contains(error),
            "{error}: {page}"
        );
        assert!(!is_used(&client, &origin).await);
    }
    *content.lock().unwrap() = format!("HTTP/1.1 200 OK\r\n\r\n# ours\r\n{token}\r\n");
    // Nobody else can check or prove it with their account.
    let other = Visitor::with_client(&client);
    other.sign_up("otto").await;
    other.post(404, CHECK, &[("origin", &origin)]).await;
    other.post(303, ADD, &[("origin", &origin)]).await;
    other.post(422, CHECK, &[("origin", &origin)]).await;
    assert!(!is_used(&client, &origin).await);
    visitor.post(303, CHECK, &[("origin", &origin)]).await;
    let page = visitor.get(200, "/dashboard/settings").await.text();
    assert!(
        page.contains("Origin proven.") && page.contains(">Proven<"),
        "{page}"
    );
    assert!(is_used(&client, &origin).await);
    assert!(
        paths
            .lock()
            .unwrap()
            .iter()
            .all(|path| path == "/.well-known/causeway.txt")
    );
    app.db.close().await;
}

async fn an_origin_works_after_its_dns_record_is_found(world: &World) {
    let record = Arc::new(Mutex::new("causeway-verification=".to_owned()));
    let server = serve_record(Arc::clone(&record)).await;
    let (app, client, visitor) = partner(world, |config| config.origins.dns_server = Some(server)).await;
    visitor.post(303, ADD, &[("origin", SHOP)]).await;
    let token = token(&visitor).await;
    let page = visitor.get(200, "/dashboard/settings").await.text();
    assert!(page.contains("_causeway.shop.causeway.test"), "{page}");
    let page = visitor.post(422, CHECK, &[("origin", SHOP)]).await.text();
    assert!(page.contains("no record contains the token"), "{page}");
    *record.lock().unwrap() = format!("causeway-verification={token}");
    visitor.post(303, CHECK, &[("origin", SHOP)]).await;
    assert!(is_used(&client, SHOP).await);
    app.db.close().await;
}

async fn an_origin_works_after_an_operator_allowed_it(world: &World) {
    let (app, client, visitor) = partner(world, |_| {}).await;
    visitor.post(303, ADD, &[("origin", SHOP)]).await;
    assert!(!is_used(&client, SHOP).await);
    let list = "/dashboard/operator/origins";
    let allow = [("account", "paula"), ("origin", SHOP)];
    visitor.get(403, list).await;
    visitor.post(403, list, &allow).await;
    let operator = operator(world).await;
    let page = operator.get(200, list).await.text();
    assert!(page.contains(SHOP) && page.contains("paula"), "{page}");
    for _ in 0..2 {
        operator.post(303, list, &allow).await;
    }
    operator
        .post(404, list, &[("account", "nobody"), ("origin", SHOP)])
        .await;
    assert!(!operator.get(200, list).await.text().contains(SHOP));
    assert!(is_used(&client, SHOP).await);
    assert!(
        visitor
            .get(200, "/dashboard/settings")
            .await
            .text()
            .contains("Allowed by an operator")
    );
    assert_eq!(
        world
            .texts("select act || ' ' || subject || ' ' || detail from audit")
            .await,
        ["origin allow paula https://shop.causeway.test"]
    );
    app.db.close().await;
}

async fn checks_of_private_addresses_are_refused_and_throttled(world: &World) {
    let (app, client, visitor) =
        partner(world, |config| config.origins.allow_private = AllowPrivate::Auto).await;
    let content = Arc::new(Mutex::new(String::new()));
    let (origin, paths) = serve_file(Arc::clone(&content)).await;
    visitor.post(303, ADD, &[("origin", &origin)]).await;
    *content.lock().unwrap() = format!("HTTP/1.1 200 OK\r\n\r\n{}", token(&visitor).await);
    let page = visitor.post(422, CHECK, &[("origin", &origin)]).await.text();
    assert!(page.contains("an address that is not public"), "{page}");
    for _ in 1..ORIGIN_CHECKS.attempts() {
        visitor.post(422, CHECK, &[("origin", &origin)]).await;
    }
    visitor.post(429, CHECK, &[("origin", &origin)]).await;
    assert!(
        paths.lock().unwrap().is_empty(),
        "the server connected to a private address"
    );
    assert!(!is_used(&client, &origin).await);
    app.db.close().await;
}

async fn localhost_needs_no_proof_in_test_mode(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("paula").await;
    let local = "http://localhost:3000";
    assert!(!is_used(&world.client, local).await);
    for origin in [local, SHOP] {
        visitor.post(303, ADD, &[("origin", origin)]).await;
    }
    assert!(is_used(&world.client, local).await);
    assert!(!is_used(&world.client, SHOP).await);
    assert!(
        visitor
            .get(200, "/dashboard/settings")
            .await
            .text()
            .contains("Works in test mode")
    );
    let mut config = world.app.config.clone();
    config.giving = Provider::Link("https://pay.example.org".to_owned());
    let app = App::build(config).await.unwrap();
    assert!(!is_used(&Client::new(&app, ""), local).await);
    app.db.close().await;
}

async fn origins_of_a_suspended_account_stop_working(world: &World) {
    let (app, client, visitor) = partner(world, |_| {}).await;
    visitor.post(303, ADD, &[("origin", SHOP)]).await;
    let operator = operator(world).await;
    operator
        .post(
            303,
            "/dashboard/operator/origins",
            &[("account", "paula"), ("origin", SHOP)],
        )
        .await;
    assert!(is_used(&client, SHOP).await);
    let account = "/dashboard/operator/accounts/paula";
    operator
        .post(303, &format!("{account}/suspend"), &[("reason", "x")])
        .await;
    assert!(!is_used(&client, SHOP).await);
    operator.post(303, &format!("{account}/restore"), &[]).await;
    assert!(is_used(&client, SHOP).await);
    app.db.close().await;
}
