//! The URLs of endpoints. Text that two parsers could read differently is refused.

use platform::outbound::addresses::AddressPolicy;
use platform::public_url::PublicUrl;
use std::net::IpAddr;
use thiserror::Error;

const MAX_BYTES: usize = 2_000;

/// A URL that passed the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointUrl {
    text: String,
    host: String,
}

/// Why a URL is refused. The message says what to send instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum InvalidUrl {
    #[error("send a URL of at most {MAX_BYTES} bytes")]
    TooLong,
    #[error(
        "send an absolute https URL, such as https://example.org/webhooks; encode spaces, quotes and letters outside of ASCII"
    )]
    Malformed,
    #[error("send a URL with https; plain http is allowed only for this machine, during development")]
    NotHttps,
    #[error("send a URL without a username and password; use the signature to verify events")]
    Credentials,
    #[error("send a URL without a fragment (#)")]
    Fragment,
    #[error("use port 443, or one from 1024 on")]
    Port,
    #[error("send a public host name, such as hooks.example.org, and not an address")]
    Host,
    #[error("send the URL of your server; this is ours")]
    Ours,
}

impl EndpointUrl {
    /// Parses a URL. With `allows_private`, it may be plain HTTP on this machine, and have any port there.
    pub(crate) fn parse(
        text: &str,
        allows_private: bool,
        ours: &PublicUrl,
    ) -> Result<EndpointUrl, InvalidUrl> {
        if text.len() > MAX_BYTES {
            return Err(InvalidUrl::TooLong);
        }
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\^`{|}".contains(&byte);
        if text.is_empty() || !text.bytes().all(is_allowed) {
            return Err(InvalidUrl::Malformed);
        }
        let (scheme, rest) = text.split_once("://").ok_or(InvalidUrl::Malformed)?;
        let is_https = scheme.eq_ignore_ascii_case("https");
        if !is_https && !scheme.eq_ignore_ascii_case("http") {
            return Err(InvalidUrl::NotHttps);
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err(InvalidUrl::Credentials);
        }
        if path.contains('#') {
            return Err(InvalidUrl::Fragment);
        }
        let (host, port) = split_port(authority)?;
        let host = host.to_ascii_lowercase();
        let address: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let is_this_machine = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        if is_this_machine || address.is_some() {
            let policy = AddressPolicy { allows_private };
            let is_admitted = address.is_none_or(|address| policy.admits(address) && !is_public(address));
            if !allows_private || !is_admitted {
                return Err(InvalidUrl::Host);
            }
        } else if !is_host_name(&host) {
            return Err(InvalidUrl::Host);
        }
        let is_local = allows_private && is_this_machine;
        if !is_https && !is_local {
            return Err(InvalidUrl::NotHttps);
        }
        let port = port.unwrap_or(if is_https { 443 } else { 80 });
        if !(is_local || port == 443 || port >= 1024) {
            return Err(InvalidUrl::Port);
        }
        if is_ours(ours, &host, port, is_local) {
            return Err(InvalidUrl::Ours);
        }
        // The parser of the client must agree.
        let parsed = reqwest::Url::parse(text).map_err(|_| InvalidUrl::Malformed)?;
        if parsed.host_str() != Some(host.as_str()) || parsed.port_or_known_default() != Some(port) {
            return Err(InvalidUrl::Host);
        }
        Ok(EndpointUrl {
            text: text.to_owned(),
            host,
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }
}

fn is_public(address: IpAddr) -> bool {
    AddressPolicy {
        allows_private: false,
    }
    .admits(address)
}

/// Splits the port from an authority. An address of IPv6 is in brackets.
fn split_port(authority: &str) -> Result<(&str, Option<u16>), InvalidUrl> {
    let after_host = authority.find(']').map_or(0, |bracket| bracket + 1);
    let (host, port) = match authority[after_host..].find(':') {
        None => (authority, None),
        Some(colon) => {
            let (host, port) = authority.split_at(after_host + colon);
            (host, Some(&port[1..]))
        }
    };
    if host.is_empty() {
        return Err(InvalidUrl::Malformed);
    }
    let parse = |port: &str| {
        let is_number = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
        port.parse().ok().filter(|_| is_number).ok_or(InvalidUrl::Port)
    };
    Ok((host, port.map(parse).transpose()?))
}

/// Returns whether this is a host name with at least two labels. The last one starts with a letter, so that no parser reads
/// it as an address, and is none that is reserved for private networks.
fn is_host_name(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.len() <= 253
        && host.contains('.')
        && host.split('.').all(is_label)
        && last.starts_with(|first: char| first.is_ascii_alphabetic())
        && !["localhost", "local", "internal", "lan", "home", "corp"].contains(&last)
}

/// Returns whether a URL leads to this server. On one machine, another port is another server.
fn is_ours(ours: &PublicUrl, host: &str, port: u16, is_local: bool) -> bool {
    let authority = ours.as_str().split("://").nth(1).unwrap_or_default();
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let Ok((our_host, our_port)) = split_port(authority) else {
        return false;
    };
    let our_port = our_port.unwrap_or(if ours.is_https() { 443 } else { 80 });
    if is_local {
        ours.is_loopback() && our_port == port
    } else {
        our_host.eq_ignore_ascii_case(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, allows_private: bool) -> Result<EndpointUrl, InvalidUrl> {
        EndpointUrl::parse(text, allows_private, &PublicUrl::new("https://give.example.org"))
    }

    #[test]
    fn public_https_urls_are_accepted_as_they_are() {
        for (text, host) in [
            ("https://example.org", "example.org"),
            ("https://hooks.example.org/a/b?token=x%20y", "hooks.example.org"),
            ("HTTPS://Hooks.Example.org:8443/", "hooks.example.org"),
            ("https://xn--bcher-kva.example:1024/", "xn--bcher-kva.example"),
            ("https://example.org:443/", "example.org"),
        ] {
            let url = parse(text, false).unwrap();
            assert_eq!((url.as_str(), url.host()), (text, host));
        }
    }

    #[test]
    fn all_others_are_refused_with_a_reason() {
        let long = format!("https://example.org/{}", "x".repeat(3_000));
        for (text, error) in [
            ("", InvalidUrl::Malformed),
            ("example.org", InvalidUrl::Malformed),
            ("https:example.org", InvalidUrl::Malformed),
            ("https:///hook", InvalidUrl::Malformed),
            ("https://", InvalidUrl::Malformed),
            ("https://:443/", InvalidUrl::Malformed),
            ("https://example.org/a b", InvalidUrl::Malformed),
            (" https://example.org", InvalidUrl::Malformed),
            ("https://example.org\\@evil.example/", InvalidUrl::Malformed),
            ("https://bücher.example/", InvalidUrl::Malformed),
            ("https://shop。example/", InvalidUrl::Malformed),
            ("https://example.org/\t", InvalidUrl::Malformed),
            (&long, InvalidUrl::TooLong),
            ("ftp://example.org/", InvalidUrl::NotHttps),
            ("http://example.org/", InvalidUrl::NotHttps),
            ("javascript://example.org/", InvalidUrl::NotHttps),
            ("https://user:pass@example.org/", InvalidUrl::Credentials),
            ("https://example.org@evil.example/", InvalidUrl::Credentials),
            ("https://example.org/#a", InvalidUrl::Fragment),
            ("https://example.org:80/", InvalidUrl::Port),
            ("https://example.org:22/", InvalidUrl::Port),
            ("https://example.org:0/", InvalidUrl::Port),
            ("https://example.org:+443/", InvalidUrl::Port),
            ("https://example.org:99999/", InvalidUrl::Port),
            ("https://example.org:/", InvalidUrl::Port),
            ("https://give.example.org/hook", InvalidUrl::Ours),
            ("https://Give.Example.org:8443/hook", InvalidUrl::Ours),
        ] {
            assert_eq!(parse(text, false), Err(error), "{text}");
            assert!(parse(text, true).is_err(), "{text}");
        }
    }

    #[test]
    fn addresses_in_every_spelling_are_refused() {
        for host in [
            "localhost",
            "LOCALHOST",
            "localhost.",
            "a.localhost",
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "0",
            "0.0.0.0",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "017700000001",
            "127.0.0.0x1",
            "1.2.3.4",
            "8.8.8.8",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fd00::1]",
            "[fe80::1]",
            "[fe80::1%25eth0]",
            "[2606:4700::1111]",
            "169.254.169.254",
            "[fd00:ec2::254]",
            "10.0.0.1",
            "192.168.1.1",
            "172.16.0.1",
            "100.64.0.1",
            "metadata.google.internal",
            "intranet",
            "a..example",
            "-a.example",
            "example.org.",
            "printer.local",
            "%31%32%37.0.0.1",
            "[::1",
        ] {
            let url = format!("https://{host}/hook");
            assert!(parse(&url, false).is_err(), "{url}");
        }
    }

    #[test]
    fn a_developer_may_use_this_machine_but_neither_metadata_services_nor_the_server_itself() {
        for text in [
            "http://localhost:3000/hook",
            "http://127.0.0.1/hook",
            "http://[::1]:3000/",
            "https://10.0.0.1/",
        ] {
            assert!(parse(text, true).is_ok(), "{text}");
        }
        for text in [
            "http://10.0.0.1/",
            "https://169.254.169.254/",
            "http://169.254.169.254/",
            "https://8.8.8.8/",
            "https://127.1/",
        ] {
            assert!(parse(text, true).is_err(), "{text}");
        }
        let ours = PublicUrl::new("http://127.0.0.1:8080");
        for text in ["http://127.0.0.1:8080/hook", "http://localhost:8080/hook"] {
            assert_eq!(EndpointUrl::parse(text, true, &ours), Err(InvalidUrl::Ours));
        }
        assert!(EndpointUrl::parse("http://127.0.0.1:3000/hook", true, &ours).is_ok());
    }
}
