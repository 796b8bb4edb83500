//! Numbers as people write them.

/// Groups digits by thousands: `1,812,345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
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
    fn thousands_are_parted_by_commas() {
        for (number, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_812_345, "1,812,345")] {
            assert_eq!(thousands(number), shown);
        }
    }
}
