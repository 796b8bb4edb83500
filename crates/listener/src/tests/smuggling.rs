//! Request smuggling: a proxy and the server disagree about where a request ends, so that a part of its body is
//! handled as a second request, which the proxy has not checked.

use super::*;

/// A request that is hidden in the body of another one.
const HIDDEN_REQUEST: &str = "GET /client HTTP/1.1\r\nhost: test\r\n\r\n";

/// Header fields that two implementations may interpret differently.
const AMBIGUOUS_FIELDS: &[&str] = &[
    "content-length: 4\r\ntransfer-encoding: chunked\r\n",
    "transfer-encoding: chunked\r\ncontent-length: 4\r\n",
    "content-length: 0\r\ntransfer-encoding: chunked\r\n",
    "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
    "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
    "transfer-encoding: identity\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n",
    "transfer-encoding: chunked, identity\r\n",
    "transfer-encoding: identity\r\ncontent-length: 4\r\n",
    "transfer-encoding: chunked, chunked\r\n",
    "transfer-encoding: xchunked\r\ncontent-length: 4\r\n",
    "transfer-encoding: chunked\t\r\ncontent-length: 4\r\n",
    "transfer-encoding:\tchunked\r\ncontent-length: 4\r\n",
    "transfer-encoding: \"chunked\"\r\ncontent-length: 4\r\n",
    "transfer-encoding: chunked;q=1\r\ncontent-length: 4\r\n",
    "transfer-encoding:\u{b}chunked\r\ncontent-length: 4\r\n",
    "transfer-encoding\u{0}: chunked\r\ncontent-length: 4\r\n",
    "transfer-encoding : chunked\r\ncontent-length: 4\r\n",
    "transfer-encoding\t: chunked\r\ncontent-length: 4\r\n",
    " transfer-encoding: chunked\r\ncontent-length: 4\r\n",
    "transfer-encoding:\r\n chunked\r\ncontent-length: 4\r\n",
    "a: b\r\n\ttransfer-encoding: chunked\r\ncontent-length: 4\r\n",
    "a: b\rtransfer-encoding: chunked\r\ncontent-length: 4\r\n",
    "a: b\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n",
    "TRANSFER-ENCODING: CHUNKED\r\nContent-Length: 4\r\n",
    "content-length: 4\r\ncontent-length: 40\r\n",
    "content-length: 40\r\ncontent-length: 4\r\n",
    "content-length: 4, 40\r\n",
    "content-length: 4, 4\r\n",
    "content-length: +4\r\n",
    "content-length: -4\r\n",
    "content-length: 0x4\r\n",
    "content-length: 4 0\r\n",
    "content-length : 4\r\n",
    "content-length:\r\n 4\r\n",
    "content-length: 18446744073709551620\r\n",
    "content-length: \r\n",
    "content-length: four\r\n",
];

/// Bodies that are chunks to one implementation and four bytes to the other.
const BODIES: &[&str] = &[
    "0\r\n\r\n",
    "4\r\nabcd\r\n0\r\n\r\n",
    "4;a=\"\n\r\nabcd\r\n0\r\n\r\n",
    "04\r\nabcd\r\n00\r\n\r\n",
];

fn count_responses(received: &str) -> usize {
    received.matches("HTTP/1.1 ").count()
}

/// Sends a request with these fields and this body, followed by the hidden request, and returns the responses.
async fn send_with_hidden_request(address: SocketAddr, fields: &str, body: &str) -> String {
    let request = format!("POST /echo HTTP/1.1\r\nhost: test\r\n{fields}\r\n{body}{HIDDEN_REQUEST}");
    let mut client = TcpStream::connect(address).await.unwrap();
    let _ = client.write_all(request.as_bytes()).await;
    let _ = client.shutdown().await;
    read_to_close(&mut client).await
}

#[tokio::test]
async fn a_request_of_ambiguous_length_hides_no_second_request() {
    let server = TestServer::start(long_timeouts()).await;
    for fields in AMBIGUOUS_FIELDS {
        for body in BODIES {
            let received = send_with_hidden_request(server.address, fields, body).await;
            assert!(
                count_responses(&received) <= 1,
                "{fields:?} {body:?} gave {received}"
            );
            assert!(
                !received.contains("127.0.0.1"),
                "{fields:?} {body:?} gave {received}"
            );
        }
    }
}

#[tokio::test]
async fn a_malformed_chunked_body_hides_no_second_request() {
    let server = TestServer::start(long_timeouts()).await;
    for body in [
        "4\nabcd\n0\n\n",
        "0x4\r\nabcd\r\n0\r\n\r\n",
        "+4\r\nabcd\r\n0\r\n\r\n",
        "-1\r\nabcd\r\n0\r\n\r\n",
        "4 4\r\nabcd\r\n0\r\n\r\n",
        "10000000000000004\r\nabcd\r\n0\r\n\r\n",
        "4\r\nabcdXX0\r\n\r\n",
        "4\r\nabcd0\r\n\r\n",
        "\r\n4\r\nabcd\r\n0\r\n\r\n",
        "g\r\nabcd\r\n0\r\n\r\n",
    ] {
        let received = send_with_hidden_request(server.address, "transfer-encoding: chunked\r\n", body).await;
        assert!(count_responses(&received) <= 1, "{body:?} gave {received}");
    }
}

#[tokio::test]
async fn pipelined_requests_of_unambiguous_length_are_all_answered() {
    let server = TestServer::start(long_timeouts()).await;
    for (fields, body) in [
        ("content-length: 4\r\n", "abcd"),
        ("transfer-encoding: chunked\r\n", "4\r\nabcd\r\n0\r\n\r\n"),
    ] {
        let received = send_with_hidden_request(server.address, fields, body).await;
        assert_eq!(count_responses(&received), 2, "{received}");
        assert!(received.ends_with("127.0.0.1"), "{received}");
    }
}

#[tokio::test]
async fn a_bare_line_feed_in_a_head_is_refused() {
    let server = TestServer::start(long_timeouts()).await;
    for request in [
        "GET /client HTTP/1.1\nhost: test\r\n\r\n",
        "GET /client HTTP/1.1\r\nhost: test\n\r\n",
        "GET /client HTTP/1.1\r\nhost: test\r\n\n",
        "GET /client HTTP/1.1\r\nhost: test\r\na: b\nc: d\r\n\r\n",
        "GET /client HTTP/1.1\nhost: test\n\n",
        "\nGET /client HTTP/1.1\r\nhost: test\r\n\r\n",
    ] {
        let received = send_and_read_to_close(server.address, request.as_bytes()).await;
        assert!(
            received.starts_with("HTTP/1.1 400 "),
            "{request:?} gave {received}"
        );
        assert!(
            received.ends_with("refused with 400"),
            "{request:?} gave {received}"
        );
        assert_eq!(count_responses(&received), 1, "{request:?} gave {received}");
    }
}

#[tokio::test]
async fn a_bare_line_feed_in_a_pipelined_head_is_refused() {
    let server = TestServer::start(long_timeouts()).await;
    let hidden = "GET /client HTTP/1.1\nhost: test\r\n\r\n";
    for first in [
        "GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n",
        "POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 7\r\n\r\nhea\nthy",
        "POST /echo HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n7\r\nhea\nthy\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n1;a\r\n\n\r\n6\r\nhealthy\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\nX: y\r\n\r\n",
        "POST /echo HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n0\r\nX: y\n\n\r\n\r\n",
    ] {
        let received = send_and_read_to_close(server.address, format!("{first}{hidden}").as_bytes()).await;
        assert!(!received.contains("127.0.0.1"), "{first:?} gave {received}");
        assert!(received.contains("HTTP/1.1 400 "), "{first:?} gave {received}");
    }
}

#[tokio::test]
async fn line_feeds_in_bodies_are_delivered_however_they_arrive() {
    let server = TestServer::start(long_timeouts()).await;
    let requests = [
        "POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 9\r\n\r\n\n\nGET /\n\n",
        "POST /echo HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n9\r\n\n\nGET /\n\n\r\n0\r\n\r\n",
    ];
    for request in requests {
        for size in [1, 10, 1000] {
            let mut client = server.connect().await;
            client.set_nodelay(true).unwrap();
            for _ in 0..2 {
                for piece in request.as_bytes().chunks(size) {
                    client.write_all(piece).await.unwrap();
                    tokio::task::yield_now().await;
                }
                let response = read_response(&mut client).await;
                assert!(response.ends_with("\r\n\r\n\n\nGET /\n\n"), "{response:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_request_needs_exactly_one_host() {
    let server = TestServer::start(long_timeouts()).await;
    for (head, status) in [
        ("GET /healthz HTTP/1.1\r\nhost: test\r\nconnection: close", 200),
        (
            "GET http://test/healthz HTTP/1.1\r\nhost: test\r\nconnection: close",
            200,
        ),
        ("GET /healthz HTTP/1.0", 200),
        ("GET /healthz HTTP/1.1", 400),
        ("GET /healthz HTTP/1.1\r\nhost: test\r\nhost: test", 400),
        ("GET /healthz HTTP/1.1\r\nhost: test\r\nhost: other", 400),
        ("GET /healthz HTTP/1.0\r\nhost: test\r\nhost: other", 400),
        ("GET http://test/healthz HTTP/1.1", 400),
        ("GET /healthz HTTP/1.1\r\nhost: te st", 400),
    ] {
        let received = send_and_read_to_close(server.address, format!("{head}\r\n\r\n").as_bytes()).await;
        assert_eq!(
            received.get(9..12),
            Some(&*status.to_string()),
            "{head:?} gave {received}"
        );
        if status == 400 {
            assert!(received.ends_with("refused with 400"), "{received}");
        }
    }
}
