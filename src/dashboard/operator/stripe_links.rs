//! Links to Stripe's dashboard, where operators see and do what only Stripe can show and do.

/// Where Stripe's dashboard is.
const DASHBOARD: &str = "https://dashboard.stripe.com";

/// Returns the URL of the page about an object. Stripe finds objects that have no page of their own by their IDs.
pub fn object_url(id: &str, is_live: bool) -> String {
    let mode = if is_live { "" } else { "/test" };
    let is_id = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let path = match id.split_once('_') {
        _ if !is_id => "balance/overview".to_owned(),
        Some(("ch" | "py" | "pi", _)) => format!("payments/{id}"),
        Some(("dp" | "du", _)) => format!("disputes/{id}"),
        Some(("po", _)) => format!("payouts/{id}"),
        Some(_) => format!("search?query={id}"),
        None => "balance/overview".to_owned(),
    };
    format!("{DASHBOARD}{mode}/{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_linked_in_their_mode() {
        for (id, is_live, path) in [
            ("ch_1", true, "/payments/ch_1"),
            ("ch_1", false, "/test/payments/ch_1"),
            ("dp_1", false, "/test/disputes/dp_1"),
            ("txn_1", true, "/search?query=txn_1"),
            ("balance", false, "/test/balance/overview"),
            ("ch_1/../x", true, "/balance/overview"),
        ] {
            assert_eq!(object_url(id, is_live), format!("{DASHBOARD}{path}"));
        }
    }
}
