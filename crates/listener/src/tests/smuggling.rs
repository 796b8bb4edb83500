use super::*;

/// A request hidden in the body of another. Where a proxy and the server disagree on the length of a body, it
/// would be answered as a request of its own.
const HIDDEN: &str = "GET /client HTTP/1.1\r\nhost: test\r\n\r\n";

/// Fields on whose meaning two readers may disagree.
const AMBIGUOUS: &[&str] = &[
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

/// Bodies that read as chunks to one and as 4 bytes to the other.
const BODIES: &[&str] = &[
    "0\r\n\r\n",
    "4\r\nabcd\r\n0\r\n\r\n",
    "4;a=\"\n\r\nabcd\r\n0\r\n\r\n",
    "04\r\nabcd\r\n00\r\n\r\n",
];

fn answers(received: &str) -> usize {
    received.matches("HTTP/1.1 ").count()
}

/// The answers to a request with these fields and body, and a hidden request behind it.
async fn received(address: SocketAddr, fields: &str, body: &str) -> String {
    let request = format!("POST /echo HTTP/1.1\r\nhost: test\r\n{fields}\r\n{body}{HIDDEN}");
    let mut client = TcpStream::connect(address).await.unwrap();
    let _ = client.write_all(request.as_bytes()).await;
    let _ = client.shutdown().await;
    rest(&mut client).await
}

#[tokio::test]
async fn no_request_whose_length_is_in_doubt_lets_a_hidden_one_through() {
    let server = Running::start(calm()).await;
    for fields in AMBIGUOUS {
        for body in BODIES {
            let received = received(server.address, fields, body).await;
            assert!(answers(&received) <= 1, "{fields:?} {body:?} gave {received}");
            assert!(
                !received.contains("127.0.0.1"),
                "{fields:?} {body:?} gave {received}"
            );
        }
    }
}

#[tokio::test]
async fn a_chunked_body_that_is_malformed_hides_nothing() {
    let server = Running::start(calm()).await;
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
        let received = received(server.address, "transfer-encoding: chunked\r\n", body).await;
        assert!(answers(&received) <= 1, "{body:?} gave {received}");
    }
}

#[tokio::test]
async fn requests_that_follow_each_other_openly_are_all_answered() {
    let server = Running::start(calm()).await;
    for (fields, body) in [
        ("content-length: 4\r\n", "abcd"),
        ("transfer-encoding: chunked\r\n", "4\r\nabcd\r\n0\r\n\r\n"),
    ] {
        let received = received(server.address, fields, body).await;
        assert_eq!(answers(&received), 2, "{received}");
        assert!(received.ends_with("127.0.0.1"), "{received}");
    }
}
