//! Email through an SMTP server that works, is unreachable, or refuses.

use super::visitor::{PASSWORD, Visitor, between, hidden};
use crate::cli::server::Server;
use crate::client::Client;
use crate::wait::eventually;
use crate::world::World;
use causeway::app::App;
use platform::mail::{Delivery, store};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

on_both_databases!(
    the_mail_server_receives_the_reset_and_the_warning,
    an_unreachable_mail_server_loses_no_email_and_changes_no_response,
    a_temporary_refusal_is_retried_and_a_permanent_one_is_set_aside,
    an_unreadable_or_old_email_does_not_block_the_others,
    two_servers_send_each_email_once,
    an_email_of_a_killed_server_is_sent_by_another_one,
    an_email_waits_for_a_suspended_mail_server,
);

/// An email as the mail server received it.
#[derive(Clone, Debug)]
struct Email {
    from: String,
    to: String,
    text: String,
}

/// A mail server (RFC 5321) that accepts every email, or refuses every recipient with the same reply.
struct MailServer {
    address: SocketAddr,
    emails: Arc<Mutex<Vec<Email>>>,
    behavior: Arc<Behavior>,
    task: JoinHandle<()>,
}

/// What a mail server does wrong.
#[derive(Default)]
struct Behavior {
    /// It accepts connections and says nothing on them.
    is_suspended: AtomicBool,
    /// It takes emails and does not confirm them.
    is_silent_after_data: AtomicBool,
}

impl MailServer {
    async fn start(address: SocketAddr, refusal: Option<&'static str>) -> MailServer {
        let listener = TcpListener::bind(address).await.unwrap();
        let emails = Arc::<Mutex<Vec<Email>>>::default();
        let (address, received) = (listener.local_addr().unwrap(), Arc::clone(&emails));
        let behavior = Arc::<Behavior>::default();
        let shared = Arc::clone(&behavior);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(
                    stream,
                    Arc::clone(&received),
                    Arc::clone(&shared),
                    refusal,
                ));
            }
        });
        MailServer {
            address,
            emails,
            behavior,
            task,
        }
    }

    /// The received emails, once there are `count`.
    async fn emails(&self, count: usize) -> Vec<Email> {
        let emails = eventually(&format!("{count} emails are received"), async || {
            let emails = self.emails.lock().unwrap().clone();
            (emails.len() >= count).then_some(emails)
        })
        .await;
        assert_eq!(emails.len(), count, "{emails:?}");
        emails
    }

    /// Stops listening.
    async fn stop(self) {
        self.task.abort();
        _ = self.task.await;
    }
}

async fn converse(
    stream: TcpStream,
    emails: Arc<Mutex<Vec<Email>>>,
    behavior: Arc<Behavior>,
    refusal: Option<&str>,
) {
    let mut stream = BufReader::new(stream);
    while behavior.is_suspended.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stream.write_all(b"220 mail.test ready\r\n").await.unwrap();
    let (mut from, mut to) = (String::new(), String::new());
    while let Some(line) = line(&mut stream).await {
        let response = match line.split([' ', ':']).next().unwrap().to_uppercase().as_str() {
            "MAIL" => {
                from = between(&line, "<", ">").unwrap();
                "250 fine"
            }
            "RCPT" => {
                to = between(&line, "<", ">").unwrap();
                refusal.unwrap_or("250 fine")
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await.unwrap();
                let text = data(&mut stream).await;
                let (from, to) = (from.clone(), to.clone());
                emails.lock().unwrap().push(Email { from, to, text });
                if behavior.is_silent_after_data.load(Ordering::Relaxed) {
                    std::future::pending::<()>().await;
                }
                "250 taken"
            }
            "QUIT" => "221 bye",
            _ => "250 fine",
        };
        stream
            .write_all(format!("{response}\r\n").as_bytes())
            .await
            .unwrap();
    }
}

async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}

/// Reads the text of an email up to the line with a single dot.
async fn data(stream: &mut BufReader<TcpStream>) -> String {
    let mut text = String::new();
    while let Some(line) = line(stream).await.filter(|line| line != ".") {
        text.push_str(&line);
        text.push('\n');
    }
    text.replace("=\n", "").replace("=3D", "=")
}

/// Builds an app that sends its email to this mail server.
async fn build_app(world: &World, mail_server: SocketAddr) -> App {
    let mut config = world.app.config.clone();
    config.mail.delivery = Delivery::Smtp(format!("smtp://{mail_server}").into());
    App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap()
}

/// The state of each email in the queue: `waiting` or `failed`.
async fn queued(world: &World) -> Vec<String> {
    let states = "select case when failed_at is null then 'waiting' else 'failed' end from mail_queue order by queued_at, id";
    world.texts(states).await
}

async fn wait_for_queued(world: &World, count: usize) {
    eventually(&format!("{count} emails are queued"), async || {
        (queued(world).await.len() == count).then_some(())
    })
    .await;
}

/// Queues an email without sending it.
async fn queue(world: &World, to: &str, subject: &str, at: i64) {
    let mut tx = world.app.db.write().await.unwrap();
    let email = platform::mail::Email::new(to, subject, "Hello");
    store::insert(&mut tx, &email, at).await.unwrap();
    tx.commit().await.unwrap();
}

fn subject(email: &Email) -> String {
    between(&email.text, "Subject: ", "\n").unwrap()
}

/// Longer than the pauses after the first attempts, and shorter than links in emails are valid.
const BACKOFF: Duration = Duration::from_mins(3);
const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

async fn the_mail_server_receives_the_reset_and_the_warning(world: &World) {
    let mail_server = MailServer::start(ANY_PORT, None).await;
    let app = build_app(world, mail_server.address).await;
    let client = Client::new(&app, &world.client.key);
    let visitor = Visitor::with_client(&client);
    visitor.sign_up("grace").await;
    visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
    let email = mail_server.emails(1).await.remove(0);
    assert_eq!(
        (email.from.as_str(), email.to.as_str()),
        ("no-reply@localhost", "grace@example.org")
    );
    assert!(
        email.text.contains("Subject: Reset your Causeway password") && email.text.contains("Hello grace"),
        "{}",
        email.text
    );
    let link = between(&email.text, "http://causeway.test", "\n").unwrap();
    let token = hidden(&visitor.get(200, &link).await.text(), "token");
    visitor
        .post(
            303,
            "/dashboard/reset/set",
            &[("token", &token), ("password", "meadow cloud teapot")],
        )
        .await;

    let private = visitor.create_key("private", "server").await;
    client.with_key(&private).details(401, "530196605").await;
    client.with_key(&private).details(401, "530196605").await;
    let email = mail_server.emails(2).await.remove(1);
    assert!(
        email.text.contains("Subject: Your private key was exposed"),
        "{}",
        email.text
    );
    assert!(
        email.to == "grace@example.org" && !email.text.contains(&private[5..35]),
        "{}",
        email.text
    );
    wait_for_queued(world, 0).await;
}

async fn an_unreachable_mail_server_loses_no_email_and_changes_no_response(world: &World) {
    let mail_server = MailServer::start(ANY_PORT, None).await;
    let (address, app) = (mail_server.address, build_app(world, mail_server.address).await);
    let visitor = Visitor::with_client(&Client::new(&app, ""));
    visitor.sign_up("grace").await;
    visitor.get(200, "/dashboard").await;
    let answered = visitor
        .post(200, "/dashboard/reset", &[("who", "grace")])
        .await
        .text();
    mail_server.emails(1).await;
    app.mail.finish().await;
    mail_server.stop().await;

    for _ in 0..2 {
        let down = visitor
            .post(200, "/dashboard/reset", &[("who", "grace")])
            .await
            .text();
        assert_eq!(down, answered);
    }
    wait_for_queued(world, 2).await;
    app.mail.finish().await;
    assert_eq!(queued(world).await, ["waiting", "waiting"]);
    world.app.clock.advance(BACKOFF);
    assert!(app.mail.deliver_queued().await.is_err());
    assert_eq!(queued(world).await, ["waiting", "waiting"]);
    assert_eq!(app.mail.last_status().waiting, 2);
    app.db.close().await;

    // Another server, which did not queue them, delivers them once the mail server is back.
    let mail_server = MailServer::start(address, None).await;
    let app = build_app(world, address).await;
    world.app.clock.advance(BACKOFF);
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 2);
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 0);
    assert!(queued(world).await.is_empty());
    assert_eq!(app.mail.last_status().waiting, 0);
    let visitor = Visitor::with_client(&Client::new(&app, ""));
    for email in mail_server.emails(2).await {
        visitor
            .get(200, &between(&email.text, "http://causeway.test", "\n").unwrap())
            .await;
    }
    visitor.sign_in(303, "grace", PASSWORD).await;
}

async fn a_temporary_refusal_is_retried_and_a_permanent_one_is_set_aside(world: &World) {
    let mail_server = MailServer::start(ANY_PORT, Some("451 come back later")).await;
    let (address, app) = (mail_server.address, build_app(world, mail_server.address).await);
    let visitor = Visitor::with_client(&Client::new(&app, ""));
    visitor.sign_up("grace").await;
    visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
    wait_for_queued(world, 1).await;
    app.mail.finish().await;
    assert_eq!(queued(world).await, ["waiting"]);
    let errors = world.texts("select last_error from mail_queue").await;
    assert!(errors[0].contains("come back later"), "{errors:?}");
    // It is not due yet, and other emails do not wait for it.
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 0);
    let attempts = "select cast(attempts as text) from mail_queue";
    assert_eq!(world.texts(attempts).await, ["1"]);
    world.app.clock.advance(BACKOFF);
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 0);
    assert_eq!(world.texts(attempts).await, ["2"]);
    mail_server.stop().await;
    let mail_server = MailServer::start(address, Some("550 nobody of that name")).await;
    // The first attempt may only discover that a pooled connection is closed.
    while queued(world).await == ["waiting"] {
        world.app.clock.advance(BACKOFF);
        _ = app.mail.deliver_queued().await;
    }
    assert_eq!(queued(world).await, ["failed"]);
    world.app.clock.advance(BACKOFF);
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 0);
    let status = app.mail.last_status();
    assert_eq!((status.waiting, status.failed), (0, 1));
    assert!(mail_server.emails.lock().unwrap().is_empty());
    // It is kept for the operator, but not forever.
    world.app.clock.advance(Duration::from_hours(31 * 24));
    app.mail.deliver_queued().await.unwrap();
    assert!(queued(world).await.is_empty());
}

async fn an_unreadable_or_old_email_does_not_block_the_others(world: &World) {
    let mail_server = MailServer::start(ANY_PORT, None).await;
    let app = build_app(world, mail_server.address).await;
    let now = world.app.clock.millis();
    queue(world, "old@example.org", "too old", now - 73 * 3_600_000).await;
    queue(world, "nobody", "no address", now - 1).await;
    queue(world, "a@example.org", "fine", now).await;
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 1);
    assert_eq!(mail_server.emails(1).await[0].to, "a@example.org");
    assert_eq!(queued(world).await, ["failed", "failed"]);
}

async fn two_servers_send_each_email_once(world: &World) {
    const EMAILS: usize = 40;
    let mail_server = MailServer::start(ANY_PORT, None).await;
    let (one, other) = (
        build_app(world, mail_server.address).await,
        build_app(world, mail_server.address).await,
    );
    for number in 0..EMAILS {
        let subject = format!("Number {number:02}");
        queue(world, "a@example.org", &subject, world.app.clock.millis()).await;
    }
    let (first, second) = tokio::join!(one.mail.deliver_queued(), other.mail.deliver_queued());
    assert_eq!(first.unwrap() + second.unwrap(), EMAILS);
    assert!(queued(world).await.is_empty());
    let mut subjects: Vec<String> = mail_server.emails(EMAILS).await.iter().map(subject).collect();
    subjects.sort();
    subjects.dedup();
    assert_eq!(subjects.len(), EMAILS);
}

async fn an_email_of_a_killed_server_is_sent_by_another_one(world: &World) {
    let mail_server = MailServer::start(ANY_PORT, None).await;
    mail_server
        .behavior
        .is_silent_after_data
        .store(true, Ordering::Relaxed);
    queue(world, "a@example.org", "Hello", world.app.clock.millis()).await;
    let url = format!("smtp://{}", mail_server.address);
    let server = Server::start_with(world, "killed", &[("CAUSEWAY_MAIL__SMTP_URL", &url)]);
    // The mail server has the email, but the server does not know it yet.
    mail_server.emails(1).await;
    server.kill();
    mail_server
        .behavior
        .is_silent_after_data
        .store(false, Ordering::Relaxed);
    let app = build_app(world, mail_server.address).await;
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 0);
    world.app.clock.advance(platform::mail::LEASE);
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 1);
    assert!(queued(world).await.is_empty());
    // One duplicate, which receivers recognize by its ID.
    let emails = mail_server.emails(2).await;
    let [first, second] =
        [&emails[0], &emails[1]].map(|email| between(&email.text, "Message-ID: ", "\n").unwrap());
    assert_eq!(first, second);
}

async fn an_email_waits_for_a_suspended_mail_server(world: &World) {
    let mail_server = MailServer::start(ANY_PORT, None).await;
    mail_server.behavior.is_suspended.store(true, Ordering::Relaxed);
    let app = build_app(world, mail_server.address).await;
    let visitor = Visitor::with_client(&Client::new(&app, ""));
    visitor.sign_up("grace").await;
    visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
    wait_for_queued(world, 1).await;
    // Requests go on.
    visitor.get(200, "/dashboard").await;
    mail_server.behavior.is_suspended.store(false, Ordering::Relaxed);
    app.mail.finish().await;
    while !queued(world).await.is_empty() {
        world.app.clock.advance(BACKOFF);
        _ = app.mail.deliver_queued().await;
    }
    mail_server.emails(1).await;
}
