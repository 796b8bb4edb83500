use super::*;

const GATE: &[u8] = b"GET /gate HTTP/1.1\r\nhost: test\r\n\r\n";

#[tokio::test]
async fn a_stop_finishes_what_is_in_flight_and_closes_what_is_idle() {
    let mut server = Running::start(calm()).await;
    let mut silent = server.connect().await;
    let mut idle = server.connect().await;
    assert!(ask(&mut idle, HEALTHZ).await.ends_with("fine"));
    let mut busy = server.connect().await;
    busy.write_all(GATE).await.unwrap();
    assert_eq!(server.next_word().await, "entered");

    server.stop.send(()).unwrap();
    assert_eq!(rest(&mut idle).await, "");
    assert_eq!(rest(&mut silent).await, "");
    assert!(TcpStream::connect(server.address).await.is_err());
    assert!(!server.server.is_finished());

    server.gate.add_permits(1);
    let last = rest(&mut busy).await;
    assert!(
        last.contains("connection: close\r\n") && last.ends_with("passed"),
        "{last}"
    );
    timeout(PATIENCE, server.server)
        .await
        .expect("the server ends")
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn a_request_that_crosses_the_stop_is_answered_as_the_last_one() {
    let server = Running::start(calm()).await;
    let mut idle = server.connect().await;
    assert!(ask(&mut idle, HEALTHZ).await.ends_with("fine"));
    server.stop.send(()).unwrap();
    while TcpStream::connect(server.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    idle.write_all(HEALTHZ.as_bytes()).await.unwrap();
    let last = rest(&mut idle).await;
    assert!(
        last.contains("connection: close\r\n") && last.ends_with("fine"),
        "{last}"
    );
}

#[tokio::test]
async fn connections_the_system_has_completed_are_still_served_after_a_stop() {
    let server = Running::start(calm()).await;
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let mut client = std::net::TcpStream::connect(server.address).unwrap();
        io::Write::write_all(&mut client, HEALTHZ.as_bytes()).unwrap();
        client.set_nonblocking(true).unwrap();
        waiting.push(client);
    }
    server.stop.send(()).unwrap();
    for client in waiting {
        let mut client = TcpStream::from_std(client).unwrap();
        assert!(rest(&mut client).await.ends_with("fine"));
    }
}

#[tokio::test]
async fn a_stop_does_not_wait_for_clients_that_are_stuck() {
    let mut server = Running::start(ServeSettings {
        stop_timeout: SHORT,
        ..calm()
    })
    .await;
    let mut stuck = Vec::new();
    for _ in 0..40 {
        let mut waits = server.connect().await;
        waits.write_all(GATE).await.unwrap();
        let mut does_not_read = server.connect().await;
        does_not_read
            .write_all(b"GET /flood HTTP/1.1\r\nhost: test\r\n\r\n")
            .await
            .unwrap();
        let mut drips = server.connect().await;
        drips.write_all(b"GET /heal").await.unwrap();
        stuck.extend([waits, does_not_read, drips]);
        assert_eq!(server.next_word().await, "entered");
    }
    server.stop.send(()).unwrap();
    timeout(PATIENCE, server.server)
        .await
        .expect("the server ends")
        .unwrap()
        .unwrap();
    for client in &mut stuck {
        rest(client).await;
    }
}

#[tokio::test]
async fn http2_clients_are_told_goodbye_and_their_requests_finish() {
    let mut server = Running::start(calm()).await;
    let (mut sender, driver) = limits::http2(server.address).await;
    let request = Request::get("http://test/gate")
        .body(http_body_util::Empty::new())
        .unwrap();
    let answer = tokio::spawn(async move { sender.send_request(request).await });
    assert_eq!(server.next_word().await, "entered");
    server.stop.send(()).unwrap();
    server.gate.add_permits(1);
    let answer = timeout(PATIENCE, answer).await.unwrap().unwrap().unwrap();
    assert_eq!(answer.status(), 200);
    drop(answer);
    timeout(PATIENCE, driver)
        .await
        .expect("the connection ends")
        .unwrap();
    timeout(PATIENCE, server.server)
        .await
        .expect("the server ends")
        .unwrap()
        .unwrap();
}
