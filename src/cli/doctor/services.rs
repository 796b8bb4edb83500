//! Checks of what the server talks to: blobs, Redis, email, anchors, and the server itself.

use super::finding::Finding;
use crate::config::Config;
use access::limits::SECOND_MICROS;
use access::limits::script::{Answer, SharedWindows, WindowQuery};
use anyhow::Context;
use giving::ledger::anchors::log::AnchorLog;
use giving::ledger::anchors::place::Place;
use giving::ledger::anchors::signing::AnchorKeys;
use metrics::Gauge;
use platform::blobs::Blobs;
use platform::clock::{Clock, rfc3339};
use platform::db::Db;
use platform::mail::{Delivery, greet, store};
use platform::public_url::PublicUrl;
use platform::redis::Redis;
use platform::secret::StoreSecret;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use uuid::Uuid;

const TIMEOUT: Duration = Duration::from_secs(5);
/// The bytes of a response that are read.
const MAX_RESPONSE: u64 = 1_048_576;

/// Whether pictures can be stored and read.
pub(super) async fn blobs(config: &Config) -> Finding {
    const SUBJECT: &str = "blobs";
    let place = match config.blobs_url.as_str() {
        "" => "the data folder",
        url => url,
    };
    if config.blobs_url.is_empty() && !config.data.is_dir() {
        return Finding::ok(
            SUBJECT,
            "pictures are stored in the data folder, which does not exist yet",
        );
    }
    let probed = async {
        let blobs = Blobs::open(&config.blobs_url, &config.data)?;
        blobs.probe().await?;
        let name = format!("doctor/{}", Uuid::now_v7().simple());
        blobs.put(&name, b"probe".to_vec()).await?;
        let found = blobs.find(&name).await?;
        blobs.remove(&name).await?;
        found.context("a blob that was written cannot be read")
    };
    match probed.await {
        Ok(_) => Finding::ok(SUBJECT, format!("{place} can be written and read")),
        Err(error) => {
            let error = error.context(format!("{place} does not work"));
            Finding::from_error(
                SUBJECT,
                &error,
                "check blobs_url, that the folder is writable, or that the server runs and the credentials are correct",
            )
        }
    }
}

/// Whether Redis answers, and counts calls.
pub(super) async fn redis(config: &Config) -> Finding {
    const SUBJECT: &str = "redis";
    const REMEDY: &str = "check redis_url, and that Redis 7 or Valkey 8 runs";
    let redis = match Redis::new(&config.redis, Gauge::noop) {
        Ok(Some(redis)) => redis,
        Ok(None) => return Finding::ok(SUBJECT, "not configured; each server counts its own requests"),
        Err(error) => return Finding::from_error(SUBJECT, &error, REMEDY),
    };
    if let Err(error) = redis.test().await {
        return Finding::problem(SUBJECT, format!("does not answer: {error}"), REMEDY);
    }
    let windows = SharedWindows::new(redis, [0; 32]);
    let query = WindowQuery {
        key: windows.group("doctor", Uuid::now_v7().as_bytes()),
        limit: 1,
        length_micros: SECOND_MICROS,
        own: None,
    };
    match windows.admit(&[query]).await {
        Ok(Answer::States(states)) if states.iter().all(|state| state.has_room) => {
            Finding::ok(SUBJECT, "counts the requests of all servers")
        }
        Ok(_) => Finding::problem(SUBJECT, "answers, but does not count requests", REMEDY),
        Err(_) => Finding::problem(SUBJECT, "does not answer", REMEDY),
    }
}

/// Whether the ledger contains its anchors.
pub(super) async fn anchors(config: &Config, db: Option<&Db>) -> Finding {
    const SUBJECT: &str = "anchors";
    let Some(db) = db else {
        return Finding::warning(
            SUBJECT,
            "not compared, because the store cannot be read",
            "see store",
        );
    };
    // A store without a secret was never used, and has no anchors.
    if !matches!(StoreSecret::check(db, &config.secret_file).await, Ok(true)) {
        return Finding::ok(
            SUBJECT,
            "not compared, because the secret of the store is not there",
        );
    }
    let compared = async {
        let secret = StoreSecret::read_unchecked(&config.secret_file)?;
        let clock = Clock::default();
        let store = db.identity(clock.millis()).await?;
        let blobs = Blobs::open(&config.blobs_url, &config.data)?;
        let places = Place::all(blobs, &config.blobs_url, &config.anchors, &config.data);
        let keys = AnchorKeys::load(&config.anchors)?;
        let log = AnchorLog::new(db.clone(), clock, secret, store, (places, keys));
        let anchors = log.list().await?;
        let newest = anchors.iter().map(|anchor| anchor.at).max();
        let loss = log.find_loss(anchors).await?;
        // A store that was not migrated yet does not know its places.
        let lost = log
            .find_lost_places()
            .await
            .ok()
            .and_then(|lost| lost.into_iter().next());
        anyhow::Ok((newest, loss, lost))
    };
    match compared.await {
        Ok((_, Some(loss), _)) => Finding::problem(
            SUBJECT,
            loss.to_string(),
            "restore the database from a newer copy, or run causeway anchor accept-loss",
        ),
        Ok((_, None, Some(lost))) => Finding::problem(
            SUBJECT,
            lost.to_string(),
            "find out who removed them, restore them, or run causeway anchor accept-loss",
        ),
        Ok((None, None, None)) => Finding::ok(SUBJECT, "none yet; the server writes one after a donation"),
        Ok((Some(newest), None, None)) => Finding::ok(
            SUBJECT,
            format!(
                "all of them are in the ledger, the newest is from {}",
                rfc3339(newest)
            ),
        ),
        Err(error) => Finding::from_error(
            SUBJECT,
            &error,
            "check that the blob store and anchors.second_url can be read",
        ),
    }
}

/// Whether the mail server answers, and accepts what is queued for it.
pub(super) async fn mail(config: &Config, db: Option<&Db>) -> Finding {
    const SUBJECT: &str = "email";
    let queue = match db {
        Some(db) => store::find_status(db).await.unwrap_or_default(),
        None => store::QueueStatus::default(),
    };
    match &config.mail.delivery {
        Delivery::Smtp(url) => match greet(url).await {
            Ok(()) if queue.failed > 0 => Finding::warning(
                SUBJECT,
                format!(
                    "the mail server answers, but {} emails could not be delivered",
                    queue.failed
                ),
                "see the log for the reasons",
            ),
            Ok(()) => Finding::ok(
                SUBJECT,
                format!(
                    "the mail server answers, and {} emails are waiting",
                    queue.waiting
                ),
            ),
            Err(error) => {
                let error = error.context("the mail server does not accept connections");
                Finding::from_error(
                    SUBJECT,
                    &error,
                    "check mail.smtp_url, and that the mail server runs",
                )
            }
        },
        Delivery::Folder if PublicUrl::new(&config.public_url).is_plain_loopback() => {
            Finding::ok(SUBJECT, "written to files in the data folder")
        }
        Delivery::Folder => Finding::warning(
            SUBJECT,
            "nothing is sent: emails are written to files in the data folder",
            "set mail.smtp_url to a mail server, or to off",
        ),
        Delivery::Off => Finding::ok(SUBJECT, "off"),
    }
}

/// Whether the URL that people use fits the other settings.
pub(super) fn public_url(config: &Config) -> Finding {
    const SUBJECT: &str = "public_url";
    let (url, seen) = (PublicUrl::new(&config.public_url), &config.public_url);
    if url.is_plain_loopback() {
        return if config.listen.ip().is_loopback() {
            Finding::ok(SUBJECT, format!("{seen}, for this machine only"))
        } else {
            Finding::warning(
                SUBJECT,
                format!("{seen}, but the server listens on {}", config.listen),
                "set public_url to the URL that people use, since all links start with it",
            )
        };
    }
    if config.listen.ip().is_unspecified() && config.public_url.contains(&config.listen.ip().to_string()) {
        return Finding::problem(
            SUBJECT,
            format!("{seen} is not a URL that people can open"),
            "set public_url to the URL that people use, since all links start with it",
        );
    }
    if !url.is_https() {
        return Finding::warning(
            SUBJECT,
            format!("{seen} sends passwords and keys unencrypted"),
            "put a reverse proxy with TLS in front, and set public_url to its https URL",
        );
    }
    if config.serve.trusted_proxies.is_empty() {
        return Finding::warning(
            SUBJECT,
            format!("{seen}, and no proxy is trusted, so all requests seem to come from one IP address"),
            "set serve.trusted_proxies to the addresses of the reverse proxy",
        );
    }
    Finding::ok(SUBJECT, seen.clone())
}

/// Whether a server runs here and is ready.
pub(super) async fn server(config: &Config) -> Finding {
    const SUBJECT: &str = "server";
    let address = config.listen;
    let Ok(Ok(stream)) = timeout(TIMEOUT, TcpStream::connect(address)).await else {
        return Finding::ok(SUBJECT, format!("no server listens on {address}"));
    };
    match timeout(TIMEOUT, get(stream, "/readyz/write")).await {
        Ok(Ok((_, body))) if !body.starts_with("{\"status\":") => Finding::problem(
            SUBJECT,
            format!("another program, or an older version, listens on {address}"),
            "stop it, or choose another address with listen",
        ),
        Ok(Ok((status, _))) if status.contains(" 200 ") => {
            Finding::ok(SUBJECT, format!("ready on {address}"))
        }
        Ok(Ok((_, body))) => Finding::problem(
            SUBJECT,
            format!("the server on {address} is not ready for everything: {body}"),
            "see its log and the other lines of this report",
        ),
        Ok(Err(_)) | Err(_) => Finding::problem(
            SUBJECT,
            format!("the program that listens on {address} does not respond"),
            "see the log of the server, and restart it",
        ),
    }
}

/// Whether the port of metrics is free, or serves those of Causeway.
pub(super) async fn metrics(config: &Config) -> Finding {
    const SUBJECT: &str = "metrics";
    let Some(address) = config.metrics_listen else {
        return Finding::ok(SUBJECT, "off");
    };
    let Ok(Ok(stream)) = timeout(TIMEOUT, TcpStream::connect(address)).await else {
        return Finding::ok(SUBJECT, format!("nothing listens on {address}"));
    };
    match timeout(TIMEOUT, get(stream, "/metrics")).await {
        Ok(Ok((_, body))) if body.contains("causeway_build_info") => {
            Finding::ok(SUBJECT, format!("served on {address}"))
        }
        _ => Finding::warning(
            SUBJECT,
            format!("another program listens on {address}, so a server could not serve its metrics there"),
            "choose another address with metrics_listen, or turn them off",
        ),
    }
}

/// Returns the status line and the body of a response.
async fn get(mut stream: TcpStream, path: &str) -> std::io::Result<(String, String)> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::new();
    stream.take(MAX_RESPONSE).read_to_end(&mut response).await?;
    let text = String::from_utf8_lossy(&response);
    let status = text.lines().next().unwrap_or_default();
    let body = text.split_once("\r\n\r\n").map_or(status, |(_, body)| body);
    Ok((status.to_owned(), body.to_owned()))
}
