//! Malicious paths.

use crate::world::World;
use causeway::http::refusal::refusal;
use causeway::server::routes::router;
use listener::{listen, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

on_both_databases!(
    a_hostile_identifier_is_a_client_error,
    a_long_identifier_is_refused_and_not_echoed,
    an_identifier_of_64_kib_is_refused_by_the_listener,
);

async fn a_hostile_identifier_is_a_client_error(world: &World) {
    world.load_demo().await;
    for (status, path) in [
        (404, "/v0.2/nonprofit/%00"),
        (404, "/v0.2/nonprofit/american-red-cross%00"),
        (404, "/v0.2/nonprofit/.."),
        (404, "/v0.2/nonprofit/%2e%2e"),
        (404, "/v0.2/nonprofit/%2e%2e%2f%2e%2e%2fetc%2fpasswd"),
        (404, "/v0.2/nonprofit/../../etc/passwd"),
        (404, "/v0.2/../v0.2/nonprofit/530196605"),
        (400, "/v0.2/nonprofit/%ff%fe"),
        (400, "/v0.2/nonprofit/%C3"),
        (404, "/v0.2/nonprofit/%"),
        (404, "/v0.2/nonprofit/%zz"),
        (404, "/v0.2/nonprofit/"),
        (404, "/v0.2/nonprofit/%20"),
        (404, "/v0.2/nonprofit//530196605"),
        (404, "/v0.2//nonprofit/530196605"),
        (404, "//v0.2/nonprofit/530196605"),
        (404, "/v0.2/nonprofit/530196605%2F"),
        (404, "/v0.2/nonprofit/a%2Fb"),
        (404, "/v0.2/nonprofit/a%5Cb"),
        (404, "/v0.2/nonprofit/'%20or%201=1--"),
        (404, "/v0.2/nonprofit/%0d%0aset-cookie:x"),
        (404, "/v0.2/nonprofit/%E2%80%AEabc"),
        (404, "/media/%00"),
        (404, "/media/.."),
        (404, "/media/logo-"),
        (404, "/media/logo-530196605"),
        (400, "/media/%ff"),
        (404, "/media/cause-%00"),
    ] {
        world.client.get(status, path).await;
    }
}

async fn a_long_identifier_is_refused_and_not_echoed(world: &World) {
    for letter in ["a", "0", "-", "%41", "%C3%A9"] {
        let path = format!("/v0.2/nonprofit/{}", letter.repeat(60_000 / letter.len()));
        let response = world.client.get(404, &path).await;
        assert!(response.body.len() < 2_000, "{} bytes", response.body.len());
    }
}

async fn an_identifier_of_64_kib_is_refused_by_the_listener(world: &World) {
    let listener = listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
    let address = listener.local_addr().unwrap();
    let app = world.app.clone();
    let server = tokio::spawn(async move {
        serve(
            listener,
            router(app.clone()),
            &app.config.serve,
            refusal,
            std::future::pending(),
        )
        .await
    });
    for length in [64 * 1024, 256 * 1024] {
        let mut connection = TcpStream::connect(address).await.unwrap();
        let path = "a".repeat(length);
        let request = format!("GET /v0.2/nonprofit/{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        // The server may close the connection before it has read everything.
        let _ = connection.write_all(request.as_bytes()).await;
        let mut response = Vec::new();
        let _ = connection.read_to_end(&mut response).await;
        let response = String::from_utf8_lossy(&response);
        assert!(response.starts_with("HTTP/1.1 4"), "{response}");
        assert!(
            response.contains("application/problem+json") && response.contains("\"requestId\""),
            "{response}"
        );
    }
    server.abort();
}
