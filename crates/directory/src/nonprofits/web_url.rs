//! Web URLs that are safe to show as links.

const MAX_LENGTH: usize = 2048;

/// Returns whether a text is an http or https URL of a host with a public name, without user information.
pub fn is_web_url(text: &str) -> bool {
    let rest = ["https://", "http://"].into_iter().find_map(|scheme| {
        let (front, rest) = text.split_at_checked(scheme.len())?;
        front.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let Some(rest) = rest else { return false };
    let is_unsafe =
        |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '\\' | '`' | '\'');
    text.len() <= MAX_LENGTH
        && !text.contains(is_unsafe)
        && is_authority(rest.split(['/', '?', '#']).next().unwrap_or(""))
}

/// Returns whether a text is a data URL.
pub fn is_data_url(text: &str) -> bool {
    text.get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

fn is_authority(text: &str) -> bool {
    match text.split_once(':') {
        Some((host, port)) => {
            is_host(host) && port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok()
        }
        None => is_host(text),
    }
}

fn is_host(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let labels = host.split('.');
    // If the last label has no letter, the host is an IP address.
    let is_name = host
        .rsplit('.')
        .next()
        .is_some_and(|last| last.chars().any(char::is_alphabetic));
    host.len() <= 253 && host.contains('.') && is_name && labels.into_iter().all(is_label)
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_and_https_urls_with_a_public_host_are_web_urls() {
        for valid in [
            "https://www.redcross.org",
            "http://example.org/a/b?c=d#e",
            "HTTPS://Example.ORG:8443/",
            "https://bücher.example/x",
            "https://example.org.",
        ] {
            assert!(is_web_url(valid), "{valid}");
        }
        for invalid in [
            "",
            "https://",
            "www.redcross.org",
            "javascript:alert(1)",
            "ftp://example.org",
            "https://localhost",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://user@example.org",
            "https://example.org:99999",
            "https://example.org:+80",
            "https://exa mple.org",
            "https://example..org",
            "https://-example.org",
            "https://example.org/\"onclick=",
            "https://example.org\\@evil.example",
            "hé",
        ] {
            assert!(!is_web_url(invalid), "{invalid}");
        }
        assert!(!is_web_url(&format!(
            "https://example.org/{}",
            "x".repeat(MAX_LENGTH)
        )));
    }
}
