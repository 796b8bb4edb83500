//! The graceful stop.

use super::*;
use crate::server::IDLE_GRACE_PERIOD;

#[tokio::test]
async fn a_stop_finishes_requests_in_flight_and_closes_idle_connections() {
    let mut server = TestServer::start(long_timeouts()).await;
    let mut silent = server.connect().await;
    let mut idle = server.connect().await;
    assert!(send(&mut idle, HEALTHZ_REQUEST).await.ends_with("healthy"));
    let mut busy = server.connect().await;
    busy.write_all(GATE_REQUEST.as_bytes()).await.unwrap();
    assert_eq!(server.next_event().await, Event::GateEntered);

    server.stop.send(Instant::now()).unwrap();
    assert_eq!(read_to_close(&mut idle).await, "");
    assert_eq!(read_to_close(&mut silent).await, "");
    assert!(TcpStream::connect(server.address).await.is_err());
    assert!(!server.task.is_finished());

    server.gate.add_permits(1);
    let last = read_to_close(&mut busy).await;
    assert!(
        last.contains("connection: close\r\n") && last.ends_with("passed"),
        "{last}"
    );
    join(server.task).await;
}

#[tokio::test]
async fn a_request_that_arrives_just_after_the_stop_gets_the_last_response() {
    for _ in 0..10 {
        let server = TestServer::start(long_timeouts()).await;
        let mut idle = server.connect().await;
        assert!(send(&mut idle, HEALTHZ_REQUEST).await.ends_with("healthy"));
        server.stop.send(Instant::now()).unwrap();
        while TcpStream::connect(server.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        let stopped_at = Instant::now();
        let _ = idle.write_all(HEALTHZ_REQUEST.as_bytes()).await;
        let last = read_to_close(&mut idle).await;
        // A slow machine can miss the grace period.
        if last.is_empty() && stopped_at.elapsed() >= IDLE_GRACE_PERIOD {
            continue;
        }
        assert!(
            last.contains("connection: close\r\n") && last.ends_with("healthy"),
            "{last}"
        );
        return;
    }
    panic!("no request got a response after the stop");
}

#[tokio::test]
async fn connections_in_the_backlog_are_served_after_a_stop() {
    let server = TestServer::start(long_timeouts()).await;
    let mut clients: Vec<TcpStream> = (0..50)
        .map(|_| server.connect_and_send(HEALTHZ_REQUEST))
        .collect();
    server.stop.send(Instant::now()).unwrap();
    for client in &mut clients {
        assert!(read_to_close(client).await.ends_with("healthy"));
    }
}

#[tokio::test]
async fn a_stop_does_not_wait_for_clients_that_hang() {
    let mut server = TestServer::start(ServeSettings {
        stop_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    let mut clients = Vec::new();
    for _ in 0..40 {
        let mut waiting = server.connect().await;
        waiting.write_all(GATE_REQUEST.as_bytes()).await.unwrap();
        let mut not_reading = server.connect().await;
        not_reading.write_all(ENDLESS_REQUEST.as_bytes()).await.unwrap();
        let mut incomplete = server.connect().await;
        incomplete.write_all(b"GET /heal").await.unwrap();
        clients.extend([waiting, not_reading, incomplete]);
        assert_eq!(server.next_event().await, Event::GateEntered);
    }
    server.stop.send(Instant::now()).unwrap();
    join(server.task).await;
    for client in &mut clients {
        read_to_close(client).await;
    }
}

#[tokio::test]
async fn the_timeout_of_a_stop_counts_from_its_request() {
    let settings = long_timeouts();
    let stop_timeout = settings.stop_timeout;
    let mut server = TestServer::start(settings).await;
    let mut busy = server.connect().await;
    busy.write_all(GATE_REQUEST.as_bytes()).await.unwrap();
    assert_eq!(server.next_event().await, Event::GateEntered);
    server.stop.send(Instant::now() - stop_timeout).unwrap();
    join(server.task).await;
    assert_eq!(read_to_close(&mut busy).await, "");
}

#[tokio::test]
async fn a_stop_finishes_http2_requests_and_then_closes_the_connection() {
    let mut server = TestServer::start(long_timeouts()).await;
    let (mut sender, driver) = connect_http2(server.address).await;
    let response = tokio::spawn(async move { sender.send_request(http2_request("/gate")).await });
    assert_eq!(server.next_event().await, Event::GateEntered);
    server.stop.send(Instant::now()).unwrap();
    server.gate.add_permits(1);
    let response = timeout(TEST_TIMEOUT, response).await.unwrap().unwrap().unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    drop(response);
    timeout(TEST_TIMEOUT, driver)
        .await
        .expect("the connection ends")
        .unwrap();
    join(server.task).await;
}
