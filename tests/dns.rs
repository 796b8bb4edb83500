//! A name server for tests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::UdpSocket;

/// A name server that has one TXT record for every name under `_causeway`.
pub async fn serve_record(record: Arc<Mutex<String>>) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut question = [0; 512];
        loop {
            let (length, client) = socket.recv_from(&mut question).await.unwrap();
            // Without the OPT record at the end.
            let mut answer = question[..length - 11].to_vec();
            answer[2] |= 0x80;
            answer[10..12].copy_from_slice(&[0, 0]);
            if answer[12..].starts_with(b"\x09_causeway") {
                let record = record.lock().unwrap().clone();
                answer[6..8].copy_from_slice(&[0, 1]);
                answer.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60]);
                answer.extend((record.len() as u16 + 1).to_be_bytes());
                answer.push(record.len() as u8);
                answer.extend(record.as_bytes());
            }
            socket.send_to(&answer, client).await.unwrap();
        }
    });
    address
}
