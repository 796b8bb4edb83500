//! A proof of work: a number whose hash, together with the text of the donation, begins with enough zeros.
//!
//! Browsers find it with a small script (`assets/proof.js`) in about a second. Somebody who tries out thousands of cards has to
//! pay for it thousands of times. The text belongs to one donation, so a proof cannot be used again, and nothing has to be
//! stored for it. The hash is SHA-256 of less than one block, which a script computes without the cryptography of the browser;
//! that is missing on sites without TLS.

use crate::checkout::Donation;
use platform::secret::StoreSecret;
use sha2::{Digest, Sha256};

/// The longest number that is accepted.
const MAX_DIGITS: usize = 15;

/// Returns the text to which the number is added.
pub fn text(secret: &StoreSecret, donation: &Donation) -> String {
    secret.sign("proof of work", donation.id.as_bytes())
}

/// Returns whether a number proves the work that a donation asks for.
pub fn is_proven(secret: &StoreSecret, donation: &Donation, number: &str) -> bool {
    let Some(bits) = donation.screening.proof_bits else {
        return false;
    };
    let is_number =
        (1..=MAX_DIGITS).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && zeros(&text(secret, donation), number) >= bits
}

/// Returns a number that proves work, as the script finds it.
pub fn work(text: &str, bits: i64) -> String {
    let mut numbers = (0_u64..).map(|number| number.to_string());
    numbers
        .find(|number| zeros(text, number) >= bits)
        .unwrap_or_default()
}

/// Returns the number of zero bits with which the hash begins.
fn zeros(text: &str, number: &str) -> i64 {
    let hash = Sha256::digest(format!("{text}:{number}"));
    let mut zeros = 0;
    for byte in hash {
        zeros += i64::from(byte.leading_zeros());
        if byte != 0 {
            break;
        }
    }
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_finds_the_first_number_that_proves_it() {
        let text = "0123456789abcdef0123456789abcdef";
        let number = work(text, 10);
        assert!(zeros(text, &number) >= 10);
        let before = 0..number.parse().unwrap();
        assert!(
            before
                .into_iter()
                .all(|number: u64| zeros(text, &number.to_string()) < 10)
        );
    }
}
