//! The timeouts of connections and requests.

use super::*;

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let server = TestServer::start(ServeSettings {
        header_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    assert_eq!(read_to_close(&mut server.connect().await).await, "");
}

#[tokio::test]
async fn a_head_that_is_sent_byte_by_byte_is_cut_off() {
    let server = TestServer::start(ServeSettings {
        header_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    for start in ["G", "PRI * HTTP/2.0\r\n", "GET /healthz HTTP/1.1\r\n"] {
        let (mut reader, mut writer) = server.connect().await.into_split();
        let write_slowly = async {
            writer.write_all(start.as_bytes()).await?;
            for byte in b"a: b\r\n".iter().cycle() {
                writer.write_all(&[*byte]).await?;
                tokio::time::sleep(SHORT_TIMEOUT / 20).await;
            }
            io::Result::Ok(())
        };
        let mut received = Vec::new();
        let read = reader.read_to_end(&mut received);
        let closed = async {
            tokio::select! {
                _ = write_slowly => {}
                _ = read => {}
            }
        };
        timeout(TEST_TIMEOUT, closed)
            .await
            .expect("the server closes the connection");
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_its_responses() {
    let server = TestServer::start(ServeSettings {
        idle_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    let mut client = server.connect_and_send(&HEALTHZ_REQUEST.repeat(3));
    let received = read_to_close(&mut client).await;
    assert_eq!(received.matches("healthy").count(), 3, "{received}");
}

#[tokio::test]
async fn an_incomplete_second_head_is_cut_off_before_the_idle_timeout() {
    let server = TestServer::start(ServeSettings {
        header_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    let mut client = server.connect_and_send(HEALTHZ_REQUEST);
    assert!(read_response(&mut client).await.ends_with("healthy"));
    client.write_all(b"GET /healthz").await.unwrap();
    assert_eq!(read_to_close(&mut client).await, "");
}

#[tokio::test]
async fn connection_timeouts_do_not_apply_to_a_request_in_flight() {
    let settings = ServeSettings {
        header_timeout: SHORT_TIMEOUT,
        idle_timeout: SHORT_TIMEOUT,
        write_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    };
    let mut server = TestServer::start(settings).await;
    let mut client = server.connect_and_send(GATE_REQUEST);
    assert_eq!(server.next_event().await, Event::GateEntered);
    tokio::time::sleep(SHORT_TIMEOUT * 2).await;
    server.gate.add_permits(1);
    assert!(read_response(&mut client).await.ends_with("passed"));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped() {
    let mut server = TestServer::start(ServeSettings {
        write_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    let mut client = server.connect().await;
    client.write_all(ENDLESS_REQUEST.as_bytes()).await.unwrap();
    assert_eq!(server.next_event().await, Event::EndlessBodyDropped);
}

#[tokio::test]
async fn an_http2_stream_without_a_flow_control_window_is_dropped() {
    let settings = ServeSettings {
        write_timeout: SHORT_TIMEOUT,
        request_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    };
    let mut server = TestServer::start(settings).await;
    let (mut sender, _driver) = connect_http2(server.address).await;
    let response = timeout(TEST_TIMEOUT, sender.send_request(http2_request("/endless")))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(server.next_event().await, Event::EndlessBodyDropped);
}

#[tokio::test]
async fn a_request_that_the_service_does_not_answer_gets_a_503() {
    let server = TestServer::start(ServeSettings {
        request_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    let mut client = server.connect().await;
    let response = send(&mut client, "GET /never HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert!(
        response.starts_with("HTTP/1.1 503 ") && response.ends_with("refused with 503"),
        "{response}"
    );
    assert!(send(&mut client, HEALTHZ_REQUEST).await.ends_with("healthy"));
}

#[tokio::test]
async fn a_request_whose_body_does_not_arrive_gets_a_503() {
    let server = TestServer::start(ServeSettings {
        request_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    let request = b"POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n\r\nab";
    let response = send_and_read_to_close(server.address, request).await;
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
}
