//! Receivers of webhooks that answer in hostile ways: each attempt fails within its time, and costs little memory.

use crate::database::Database;
use crate::instance::{Instance, eventually};
use crate::ledger::Workload;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// The events that each receiver gets, so that about as many attempts are in progress as a server makes at the same time.
const EVENTS: usize = 6;
const MAX_IN_FLIGHT: u64 = 64;
/// The endpoints that had all their attempts, also if some events were tried twice.
const FINISHED: &str = "select count(*) from (select d.endpoint_id from webhook_attempts a \
     join webhook_deliveries d on d.id = a.delivery_id group by d.endpoint_id having count(*) >= 6) finished";
/// An attempt takes 15 seconds at most. The machine may be slow to notice.
const MAX_MILLIS: i64 = 15_000 + 5_000;
/// What one attempt may cost.
const MAX_MEMORY: u64 = 1024 * 1024;

/// How a receiver answers.
type Attack = fn(&mut TcpStream) -> io::Result<()>;

const ATTACKS: [(&str, Attack); 10] = [
    ("body", |stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")?;
        repeat(stream, &[b'x'; 65_536], Duration::ZERO)
    }),
    ("chunks", |stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        repeat(stream, b"1\r\nx\r\n", Duration::ZERO)
    }),
    ("slow-body", |stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")?;
        repeat(stream, b"x", Duration::from_secs(1))
    }),
    ("slow-head", |stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ")?;
        repeat(stream, b"x", Duration::from_secs(1))
    }),
    ("head", |stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        repeat(
            stream,
            b"X-Header: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
            Duration::ZERO,
        )
    }),
    ("continue", |stream| {
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000);
        repeat(stream, &interim, Duration::ZERO)
    }),
    ("upgrade", |stream| {
        stream.write_all(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        )?;
        repeat(stream, &[b'x'; 65_536], Duration::ZERO)
    }),
    ("bomb", |stream| {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1073741824\r\n\r\n")?;
        repeat(stream, &[0; 65_536], Duration::ZERO)
    }),
    ("other-protocol", |stream| {
        stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n")
    }),
    ("close", |_| Ok(())),
];

/// Sends the same bytes until the other side closes the connection.
fn repeat(stream: &mut TcpStream, bytes: &[u8], pause: Duration) -> io::Result<()> {
    loop {
        stream.write_all(bytes)?;
        thread::sleep(pause);
    }
}

/// Starts a receiver and returns its URL.
fn start(attack: Attack) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut request = [0; 16_384];
                stream.read(&mut request).and_then(|_| attack(&mut stream))
            });
        }
    });
    format!("http://{address}/hook")
}

#[test]
fn hostile_receivers_are_failed_attempts_within_bounds_of_time_and_memory() {
    let mut instance = Instance::new(Database::Sqlite, 1_000);
    instance
        .settings
        .push(("CAUSEWAY_WEBHOOKS__ALLOW_PRIVATE", "true".to_owned()));
    let mut workload = Workload::new(instance);
    let server = workload.instance.serve();
    workload.begin(server.address);
    let number = |sql| workload.instance.database.number(sql);
    eventually("the first events are known", || {
        number("select (select events from ledger_head) - (select outbox from event_sources)") == 0
    });
    for (name, attack) in ATTACKS {
        let url = start(attack);
        let description = format!("--description={name}");
        let endpoint = [
            "webhook",
            "create",
            "--account",
            "ada",
            "--event",
            "fundraiser.created",
            "--url",
            &url,
        ];
        workload.instance.run(&[&endpoint[..], &[&description]].concat());
    }
    let before = server.resident_memory();
    for number in 0..EVENTS {
        workload.create_fundraiser(server.address, &format!("event-{number}"));
    }
    let mut peak = before;
    eventually("every attempt has ended", || {
        peak = peak.max(server.resident_memory());
        number(FINISHED) == ATTACKS.len() as i64
    });
    let attempts = number("select count(*) from webhook_attempts");
    let longest = number("select max(duration) from webhook_attempts");
    let growth = peak - before;
    println!(
        "{attempts} attempts, the longest took {longest} ms, and memory grew by {} KiB",
        growth / 1024
    );
    assert_eq!(
        number("select count(*) from webhook_attempts where error is null"),
        0
    );
    assert!(longest <= MAX_MILLIS, "{longest} ms");
    assert!(
        growth <= MAX_IN_FLIGHT * MAX_MEMORY,
        "memory grew by {growth} bytes"
    );
}
