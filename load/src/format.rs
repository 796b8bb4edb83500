//! Formats measurements for a table, and computes medians.

use std::time::Duration;

pub(crate) const MEBIBYTE: u64 = 1024 * 1024;
pub(crate) const GIBIBYTE: u64 = 1024 * MEBIBYTE;

pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}

pub(crate) fn latency(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    if micros < 10.0 {
        format!("{micros:.1} us")
    } else if micros < 10_000.0 {
        format!("{micros:.0} us")
    } else {
        format!("{:.1} ms", micros / 1e3)
    }
}

pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", with_commas(bytes / MEBIBYTE))
}

pub(crate) fn rate(requests_per_second: f64) -> String {
    format!("{}/s", with_commas(requests_per_second.round() as u64))
}

pub(crate) fn ratio(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.2} x")
    } else {
        format!("{value:.0} x")
    }
}

pub(crate) fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `part / whole`, or zero if `whole` is zero.
pub(crate) fn fraction(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

/// Returns the median, or zero if there are no values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_formatted_with_units() {
        assert_eq!(with_commas(0), "0");
        assert_eq!(with_commas(999), "999");
        assert_eq!(with_commas(1_800_000), "1,800,000");
        assert_eq!(rate(119_999.7), "120,000/s");
        assert_eq!(latency(Duration::from_nanos(8_400)), "8.4 us");
        assert_eq!(latency(Duration::from_micros(250)), "250 us");
        assert_eq!(latency(Duration::from_millis(13)), "13.0 ms");
        assert_eq!(mebibytes(1536 * MEBIBYTE), "1,536 MiB");
        assert_eq!(ratio(0.514), "0.51 x");
        assert_eq!(ratio(22.4), "22 x");
    }

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middle_two() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median([4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median([]).abs() < f64::EPSILON);
    }
}
