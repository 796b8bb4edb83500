//! An amount as people type it.

use platform::money::Cents;

/// Reads dollars with or without cents: `25`, `$25.50`, `1,000`. Nothing where it is no amount that can be given.
pub fn parse(typed: &str) -> Option<Cents> {
    let typed = typed.trim();
    let plain: String = typed.strip_prefix('$').unwrap_or(typed).trim().to_owned();
    let (dollars, cents) = plain.split_once('.').unwrap_or((&plain, ""));
    let dollars = if dollars.contains(',') {
        ungrouped(dollars)?
    } else {
        dollars.to_owned()
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if dollars.is_empty() || !is_digits(&dollars) || !is_digits(cents) || cents.len() > 2 {
        return None;
    }
    let dollars: i64 = dollars.parse().ok()?;
    let cents: i64 = format!("{cents:0<2}").parse().ok()?;
    Cents::positive(dollars.checked_mul(100)?.checked_add(cents)?)
}

/// Commas part groups of three digits, or nothing.
fn ungrouped(dollars: &str) -> Option<String> {
    let mut groups = dollars.split(',');
    let first = groups.next()?;
    let is_grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    is_grouped.then(|| dollars.replace(',', ""))
}

/// As it is typed: without a sign, and without cents where there are none.
pub fn written(amount: Cents) -> String {
    match amount.get() % 100 {
        0 => (amount.get() / 100).to_string(),
        cents => format!("{}.{cents:02}", amount.get() / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_amount_is_dollars_with_or_without_cents() {
        for (typed, cents) in [
            ("25", 2_500),
            (" $25.5 ", 2_550),
            ("0.01", 1),
            ("1,000", 100_000),
            ("$ 7.05", 705),
        ] {
            assert_eq!(parse(typed), Some(Cents::new(cents)), "{typed}");
        }
        for typed in [
            "",
            "0",
            "0.00",
            "-5",
            "five",
            "5e3",
            "1.234",
            "1,00",
            "10,000,00",
            "1000000000000000",
            "٣",
            "5 5",
            ".",
            "$",
            "99999999999999999999999",
        ] {
            assert_eq!(parse(typed), None, "{typed}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(cents in 1..=Cents::MAX.get()) {
            prop_assert_eq!(parse(&written(Cents::new(cents))), Some(Cents::new(cents)));
        }
    }
}
