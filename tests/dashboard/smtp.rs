//! Email through an SMTP server that works, is unreachable, or refuses.

use super::visitor::{PASSWORD, Visitor, between, hidden};
use crate::client::Client;
use crate::wait::eventually;
use crate::world::World;
use causeway::app::App;
use platform::mail::Delivery;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

on_both_databases!(
    the_mail_server_receives_the_reset_and_the_warning,
    an_unreachable_mail_server_loses_no_email_and_changes_no_response,
    a_temporary_refusal_is_retried_and_a_permanent_one_is_set_aside,
    an_unreadable_email_does_not_block_the_others,
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
    task: JoinHandle<()>,
}

impl MailServer {
    async fn start(address: SocketAddr, refusal: Option<&'static str>) -> MailServer {
        let listener = TcpListener::bind(address).await.unwrap();
        let emails = Arc::<Mutex<Vec<Email>>>::default();
        let (address, received) = (listener.local_addr().unwrap(), Arc::clone(&emails));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, Arc::clone(&received), refusal));
            }
        });
        MailServer {
            address,
            emails,
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

async fn converse(stream: TcpStream, emails: Arc<Mutex<Vec<Email>>>, refusal: Option<&str>) {
    let mut stream = BufReader::new(stream);
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
    App::build(config).await.unwrap()
}

fn queued(world: &World, extension: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(world.data().join("mail/waiting"))
        .into_iter()
        .flatten();
    let files = files.map(|file| file.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}

async fn wait_for_queued(world: &World, extension: &str, count: usize) {
    eventually(&format!("{count} emails are queued"), async || {
        (queued(world, extension).len() == count).then_some(())
    })
    .await;
}

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
    wait_for_queued(world, "json", 0).await;
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
    mail_server.stop().await;

    for _ in 0..2 {
        let down = visitor
            .post(200, "/dashboard/reset", &[("who", "grace")])
            .await
            .text();
        assert_eq!(down, answered);
    }
    wait_for_queued(world, "json", 2).await;
    assert!(app.mail.deliver_queued().await.is_err());
    assert_eq!(queued(world, "json").len(), 2);
    app.db.close().await;

    // Another app delivers them once the mail server is back.
    let mail_server = MailServer::start(address, None).await;
    let app = build_app(world, address).await;
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 2);
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 0);
    assert!(queued(world, "json").is_empty());
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
    wait_for_queued(world, "json", 1).await;
    assert!(app.mail.deliver_queued().await.is_err());
    mail_server.stop().await;
    let mail_server = MailServer::start(address, Some("550 nobody of that name")).await;
    // The first attempt only discovers that a pooled connection is closed.
    while app.mail.deliver_queued().await.is_err() {}
    assert!(queued(world, "json").is_empty());
    assert_eq!(queued(world, "refused").len(), 1);
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 0);
    assert!(mail_server.emails.lock().unwrap().is_empty());
}

async fn an_unreadable_email_does_not_block_the_others(world: &World) {
    let mail_server = MailServer::start(ANY_PORT, None).await;
    let app = build_app(world, mail_server.address).await;
    let folder = world.data().join("mail/waiting");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("0.json"), "{").unwrap();
    std::fs::write(folder.join("1.json"), r#"{"to":"nobody","subject":"","text":""}"#).unwrap();
    std::fs::write(
        folder.join("2.json"),
        r#"{"to":"a@example.org","subject":"x","text":"y"}"#,
    )
    .unwrap();
    let old = std::fs::File::create(folder.join("3.json")).unwrap();
    old.set_modified(std::time::SystemTime::now() - Duration::from_hours(73))
        .unwrap();
    assert_eq!(app.mail.deliver_queued().await.unwrap(), 1);
    assert_eq!(mail_server.emails(1).await[0].to, "a@example.org");
    assert_eq!(queued(world, "refused").len(), 2);
    assert!(queued(world, "json").is_empty());
}
