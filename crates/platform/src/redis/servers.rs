//! The URL of Redis or Valkey: one server, servers that Sentinel watches, or a cluster.

use super::connection::Connection;
use anyhow::{Context, bail};
use redis::cluster::ClusterClient;
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{AsyncConnectionConfig, Client, ConnectionInfo, IntoConnectionInfo, RedisResult, TlsMode};
use std::fmt;
use std::time::Duration;
use tokio::sync::Mutex;

/// How long connecting to one server may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// How often a cluster is asked again after a redirect. The caller has a timeout of its own.
const CLUSTER_RETRIES: u32 = 3;

const FORMS: &str = "set it to redis://host:6379, rediss://host:6379, redis-sentinel://host:26379/master-name \
                     or redis-cluster://host:6379, or leave it empty";

/// The servers that a URL names. Nothing is connected yet.
pub enum Servers {
    Single(Box<Client>),
    /// The lock is held while the current master is looked up.
    Sentinel(Box<Mutex<SentinelClient>>),
    Cluster(Box<ClusterClient>),
}

impl Servers {
    /// Parses the setting `redis_url`. Errors do not contain the URL, which may have a password in it.
    pub fn parse(url: &str) -> anyhow::Result<Servers> {
        let Some((scheme, rest)) = url.split_once("://") else {
            bail!("redis_url is not a URL; {FORMS}");
        };
        match scheme {
            "redis" | "rediss" => {
                let client = Client::open(url);
                Ok(Servers::Single(Box::new(client.map_err(|_| invalid())?)))
            }
            "redis-sentinel" => Address::parse(rest)?.sentinel(),
            "redis-cluster" => Address::parse(rest)?.cluster(),
            _ => bail!("redis_url begins with {scheme:?}://, which is not supported; {FORMS}"),
        }
    }

    /// Connects to the server, the current master or the cluster.
    pub async fn connect(&self) -> RedisResult<Connection> {
        // The caller limits how long it waits for a response.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(None);
        Ok(match self {
            Servers::Single(client) => {
                let connection = client.get_multiplexed_async_connection_with_config(&config);
                Connection::Single(connection.await?)
            }
            Servers::Sentinel(client) => {
                let mut client = client.lock().await;
                Connection::Single(client.get_async_connection_with_config(&config).await?)
            }
            Servers::Cluster(client) => Connection::Cluster(client.get_async_connection().await?),
        })
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Servers::Single(_) => "Single",
            Servers::Sentinel(_) => "Sentinel",
            Servers::Cluster(_) => "Cluster",
        })
    }
}

fn invalid() -> anyhow::Error {
    anyhow::anyhow!("redis_url is not a valid URL; {FORMS}")
}

/// What follows the scheme: `[user:password@]host[:port][,host[:port]]...[/path][?tls=true]`.
struct Address<'a> {
    /// With the `@`, or empty.
    credentials: &'a str,
    hosts: Vec<&'a str>,
    path: &'a str,
    uses_tls: bool,
    /// The password of the sentinels themselves, percent-encoded.
    sentinel_password: &'a str,
}

impl<'a> Address<'a> {
    fn parse(rest: &'a str) -> anyhow::Result<Address<'a>> {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (credentials, hosts) = match authority.rfind('@') {
            Some(at) => authority.split_at(at + 1),
            None => ("", authority),
        };
        let mut address = Address {
            credentials,
            hosts: hosts.split(',').collect(),
            path,
            uses_tls: false,
            sentinel_password: "",
        };
        if address.hosts.iter().any(|host| host.is_empty()) {
            return Err(invalid());
        }
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("tls", value)) if value == "true" || value == "false" => {
                    address.uses_tls = value == "true";
                }
                Some(("sentinel_password", value)) => address.sentinel_password = value,
                _ => bail!(
                    "redis_url has an unknown parameter; the known ones are tls=true and sentinel_password"
                ),
            }
        }
        Ok(address)
    }

    fn sentinel(&self) -> anyhow::Result<Servers> {
        let (master, database) = self.path.split_once('/').unwrap_or((self.path, ""));
        if master.is_empty() {
            bail!(
                "redis_url does not name the master that Sentinel watches; add it as in redis-sentinel://host:26379/mymaster"
            );
        }
        let credentials = match self.sentinel_password {
            "" => String::new(),
            password => format!(":{password}@"),
        };
        let sentinels: Vec<ConnectionInfo> = self
            .hosts
            .iter()
            .map(|host| {
                let port = if has_port(host) { "" } else { ":26379" };
                self.node(&credentials, &format!("{host}{port}"), "")
            })
            .collect::<anyhow::Result<_>>()?;
        // The host is a placeholder: the sentinels name the master.
        let server = self.node(self.credentials, "master", database)?;
        let mut settings =
            SentinelNodeConnectionInfo::default().set_redis_connection_info(server.redis_settings().clone());
        if self.uses_tls {
            settings = settings.set_tls_mode(TlsMode::Secure);
        }
        let client = SentinelClient::build(sentinels, master, Some(settings), SentinelServerType::Master);
        let client = client.map_err(|_| invalid())?;
        Ok(Servers::Sentinel(Box::new(Mutex::new(client))))
    }

    fn cluster(&self) -> anyhow::Result<Servers> {
        if !self.path.is_empty() {
            bail!("redis_url has a path, but a cluster has no databases; remove what follows the hosts");
        }
        let nodes = self
            .hosts
            .iter()
            .map(|host| self.node(self.credentials, host, ""));
        let nodes: Vec<ConnectionInfo> = nodes.collect::<anyhow::Result<_>>()?;
        let client = ClusterClient::builder(nodes)
            .connection_timeout(CONNECT_TIMEOUT)
            .retries(CLUSTER_RETRIES)
            .build();
        Ok(Servers::Cluster(Box::new(client.map_err(|_| invalid())?)))
    }

    fn node(&self, credentials: &str, host: &str, database: &str) -> anyhow::Result<ConnectionInfo> {
        let scheme = if self.uses_tls { "rediss" } else { "redis" };
        let url = format!("{scheme}://{credentials}{host}/{database}");
        url.into_connection_info()
            .ok()
            .with_context(|| invalid().to_string())
    }
}

/// Returns whether a host ends with a port. An IPv6 address is in brackets.
fn has_port(host: &str) -> bool {
    host.rsplit_once(':')
        .is_some_and(|(_, port)| !port.ends_with(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        Servers::parse(url).unwrap_err().to_string()
    }

    #[test]
    fn every_form_of_url_is_accepted() {
        for url in [
            "redis://127.0.0.1",
            "redis://user:secret@redis.example.org:6380/2",
            "rediss://:secret@redis.example.org",
        ] {
            assert!(matches!(Servers::parse(url), Ok(Servers::Single(_))), "{url}");
        }
        for url in [
            "redis-sentinel://10.0.0.1:26379,10.0.0.2/mymaster",
            "redis-sentinel://user:secret@[::1]/mymaster/3?sentinel_password=other&tls=true",
        ] {
            assert!(matches!(Servers::parse(url), Ok(Servers::Sentinel(_))), "{url}");
        }
        for url in [
            "redis-cluster://10.0.0.1:7000,10.0.0.2:7000",
            "redis-cluster://:secret@10.0.0.1?tls=true",
        ] {
            assert!(matches!(Servers::parse(url), Ok(Servers::Cluster(_))), "{url}");
        }
    }

    #[test]
    fn other_urls_are_refused_without_showing_their_password() {
        for (url, expected) in [
            ("localhost:6379", "not a URL"),
            ("http://:hunter2@localhost", "\"http\"://"),
            ("unix://:hunter2@localhost", "\"unix\"://"),
            ("redis://:hunter2@host:port", "not a valid URL"),
            ("redis-sentinel://:hunter2@localhost", "does not name the master"),
            ("redis-sentinel://:hunter2@a,,b/mymaster", "not a valid URL"),
            ("redis-cluster://:hunter2@localhost/1", "no databases"),
            (
                "redis-cluster://:hunter2@localhost?insecure=1",
                "unknown parameter",
            ),
        ] {
            let refusal = refusal(url);
            assert!(refusal.contains(expected), "{url}: {refusal}");
            assert!(!refusal.contains("hunter2"), "{refusal}");
        }
    }
}
