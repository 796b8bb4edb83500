//! Numbers formatted for people.

/// Separates thousands with commas: `1,812,345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_by_commas() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_812_345, "1,812,345")] {
            assert_eq!(thousands(number), expected);
        }
    }
}
