//! Mail by a mail server that really speaks SMTP, that is down, and that refuses.

use super::visitor::{PASSWORD, Visitor, between, hidden};
use crate::client::Client;
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

/// A mail as it came in: who sends it to whom, and its text.
#[derive(Clone, Debug)]
struct Received {
    from: String,
    to: String,
    text: String,
}

/// A mail server (RFC 5321), which takes every mail or answers every recipient with a refusal.
struct Peer {
    address: SocketAddr,
    mails: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Peer {
    async fn start(address: SocketAddr, refusal: Option<&'static str>) -> Peer {
        let listener = TcpListener::bind(address).await.unwrap();
        let mails = Arc::<Mutex<Vec<Received>>>::default();
        let (address, kept) = (listener.local_addr().unwrap(), Arc::clone(&mails));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, Arc::clone(&kept), refusal));
            }
        });
        Peer { address, mails, task }
    }

    async fn mails(&self, count: usize) -> Vec<Received> {
        for _ in 0..200 {
            let mails = self.mails.lock().unwrap().clone();
            if mails.len() >= count {
                assert_eq!(mails.len(), count, "{mails:?}");
                return mails;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("{count} mails did not come");
    }

    /// Nobody listens any more.
    async fn stop(self) {
        self.task.abort();
        _ = self.task.await;
    }
}

async fn converse(stream: TcpStream, mails: Arc<Mutex<Vec<Received>>>, refusal: Option<&str>) {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 mail.test ready\r\n").await.unwrap();
    let (mut from, mut to) = (String::new(), String::new());
    while let Some(line) = line(&mut stream).await {
        let answer = match line.split([' ', ':']).next().unwrap().to_uppercase().as_str() {
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
                mails.lock().unwrap().push(Received { from, to, text });
                "250 taken"
            }
            "QUIT" => "221 bye",
            _ => "250 fine",
        };
        stream
            .write_all(format!("{answer}\r\n").as_bytes())
            .await
            .unwrap();
    }
}

async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}

/// The text of a mail, unfolded, to the line with a dot alone.
async fn data(stream: &mut BufReader<TcpStream>) -> String {
    let mut text = String::new();
    while let Some(line) = line(stream).await.filter(|line| line != ".") {
        text.push_str(&line);
        text.push('\n');
    }
    text.replace("=\n", "").replace("=3D", "=")
}

/// A server of ours that sends its mail to this address.
async fn app(world: &World, mail_server: SocketAddr) -> App {
    let mut config = world.app.config.clone();
    config.mail.delivery = Delivery::Smtp(format!("smtp://{mail_server}").into());
    App::build(config).await.unwrap()
}

fn waiting(world: &World, ending: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(world.data().join("mail/waiting"))
        .into_iter()
        .flatten();
    let files = files.map(|file| file.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}

async fn await_waiting(world: &World, ending: &str, count: usize) {
    for _ in 0..400 {
        if waiting(world, ending).len() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{:?} and not {count}", waiting(world, ending));
}

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

on_both! {
    async fn a_mail_server_gets_the_reset_and_the_warning(world: &World) {
        let peer = Peer::start(ANY, None).await;
        let app = app(world, peer.address).await;
        let client = Client::new(&app, &world.client.key);
        let visitor = Visitor::of(&client);
        visitor.sign_up("grace").await;
        visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
        let mail = peer.mails(1).await.remove(0);
        assert_eq!((mail.from.as_str(), mail.to.as_str()), ("no-reply@localhost", "grace@example.org"));
        assert!(mail.text.contains("Subject: Set a new password") && mail.text.contains("Hello grace"), "{}", mail.text);
        let link = between(&mail.text, "http://causeway.test", "\n").unwrap();
        let token = hidden(&visitor.get(200, &link).await.text(), "token");
        visitor.post(303, "/dashboard/reset/set", &[("token", &token), ("password", "meadow cloud teapot")]).await;

        let private = visitor.make_key("private", "server").await;
        client.with_key(&private).details(401, "530196605").await;
        client.with_key(&private).details(401, "530196605").await;
        let mail = peer.mails(2).await.remove(1);
        assert!(mail.text.contains("Subject: A private key of yours was exposed"), "{}", mail.text);
        assert!(mail.to == "grace@example.org" && !mail.text.contains(&private[5..35]), "{}", mail.text);
        await_waiting(world, "json", 0).await;
    }

    async fn a_mail_server_that_is_down_loses_no_mail_and_changes_no_answer(world: &World) {
        let peer = Peer::start(ANY, None).await;
        let (address, app) = (peer.address, app(world, peer.address).await);
        let visitor = Visitor::of(&Client::new(&app, ""));
        visitor.sign_up("grace").await;
        visitor.get(200, "/dashboard").await;
        let answered = visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await.text();
        peer.mails(1).await;
        peer.stop().await;

        for _ in 0..2 {
            let down = visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await.text();
            assert_eq!(down, answered);
        }
        await_waiting(world, "json", 2).await;
        assert!(app.mail.deliver_queued().await.is_err());
        assert_eq!(waiting(world, "json").len(), 2);
        app.db.close().await;

        // Another server of ours finds them when the mail server is back.
        let peer = Peer::start(address, None).await;
        let app = self::app(world, address).await;
        assert_eq!(app.mail.deliver_queued().await.unwrap(), 2);
        assert_eq!(app.mail.deliver_queued().await.unwrap(), 0);
        assert!(waiting(world, "json").is_empty());
        let visitor = Visitor::of(&Client::new(&app, ""));
        for mail in peer.mails(2).await {
            visitor.get(200, &between(&mail.text, "http://causeway.test", "\n").unwrap()).await;
        }
        visitor.sign_in(303, "grace", PASSWORD).await;
    }

    async fn a_mail_that_is_refused_for_now_waits_and_one_refused_for_good_is_set_aside(world: &World) {
        let peer = Peer::start(ANY, Some("451 come back later")).await;
        let (address, app) = (peer.address, app(world, peer.address).await);
        let visitor = Visitor::of(&Client::new(&app, ""));
        visitor.sign_up("grace").await;
        visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
        await_waiting(world, "json", 1).await;
        assert!(app.mail.deliver_queued().await.is_err());
        peer.stop().await;
        let peer = Peer::start(address, Some("550 nobody of that name")).await;
        // A connection that was kept is noticed to be gone at the first try.
        while app.mail.deliver_queued().await.is_err() {}
        assert!(waiting(world, "json").is_empty());
        assert_eq!(waiting(world, "refused").len(), 1);
        assert_eq!(app.mail.deliver_queued().await.unwrap(), 0);
        assert!(peer.mails.lock().unwrap().is_empty());
    }

    async fn a_mail_that_nobody_can_read_does_not_hold_up_the_others(world: &World) {
        let peer = Peer::start(ANY, None).await;
        let app = app(world, peer.address).await;
        let folder = world.data().join("mail/waiting");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("0.json"), "{").unwrap();
        std::fs::write(folder.join("1.json"), r#"{"to":"nobody","subject":"","text":""}"#).unwrap();
        std::fs::write(folder.join("2.json"), r#"{"to":"a@example.org","subject":"x","text":"y"}"#).unwrap();
        let old = std::fs::File::create(folder.join("3.json")).unwrap();
        old.set_modified(std::time::SystemTime::now() - Duration::from_hours(73)).unwrap();
        assert_eq!(app.mail.deliver_queued().await.unwrap(), 1);
        assert_eq!(peer.mails(1).await[0].to, "a@example.org");
        assert_eq!(waiting(world, "refused").len(), 2);
        assert!(waiting(world, "json").is_empty());
    }
}
