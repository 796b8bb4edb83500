//! A stand-in.

/// Returns the URL of a website.
pub fn website(text: &str) -> Option<String> {
    let token = text
        .split_whitespace()
        .find(|t| t.contains('.') && !t.contains('@'))?;
    let lower = token.to_ascii_lowercase();
    let rest = lower
        .trim_start_matches("https://")
        .trim_start_matches("http://")
        .trim_end_matches('/');
    (!rest.is_empty()).then(|| format!("https://{rest}"))
}
