//! Two-factor sign-in: besides the password, a code from an authenticator app (TOTP, RFC 6238), or a recovery code.
//!
//! The secret that an app shares with us is encrypted with the secret of the store, and recovery codes are stored as
//! HMACs with it, so a copy of the database alone is of no use. A code works once, on all servers together.

pub mod pending;
pub mod store;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use platform::ids::AccountId;
use platform::secret::StoreSecret;
use ring::hmac;
use secrecy::{ExposeSecret, SecretBox, SecretString};
use std::fmt::Write;

/// How long a code is shown by apps.
const STEP_MILLIS: i64 = 30_000;
/// How many steps the clock of a phone may be ahead or behind.
const TOLERANCE: i64 = 1;
const DIGITS: u32 = 6;
/// The length that RFC 4226 recommends.
const SECRET_LENGTH: usize = 20;
/// The number of recovery codes of an account.
pub(crate) const RECOVERY_CODES: usize = 10;
/// The characters of a recovery code: 50 bits, which nobody can guess within the limit on attempts.
const RECOVERY_LENGTH: usize = 10;
/// What is encoded in the name of a site. Host names stay readable.
const ENCODED_IN_ISSUER: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.');
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The secret that an authenticator app shares with us.
#[derive(Clone, Debug)]
pub struct TotpSecret(std::sync::Arc<SecretBox<[u8; SECRET_LENGTH]>>);

impl TotpSecret {
    pub fn generate() -> TotpSecret {
        let mut bytes = [0; SECRET_LENGTH];
        getrandom::fill(&mut bytes).expect("the system has random bytes");
        TotpSecret::new(bytes)
    }

    fn new(bytes: [u8; SECRET_LENGTH]) -> TotpSecret {
        TotpSecret(SecretBox::new(Box::new(bytes)).into())
    }

    fn encrypt(&self, secret: &StoreSecret, account: AccountId) -> Vec<u8> {
        secret.encrypt("two-factor", account.0.as_bytes(), self.0.expose_secret())
    }

    fn decrypt(secret: &StoreSecret, account: AccountId, encrypted: &[u8]) -> Option<TotpSecret> {
        let bytes = secret.decrypt("two-factor", account.0.as_bytes(), encrypted)?;
        bytes.try_into().ok().map(TotpSecret::new)
    }

    /// Returns the secret as people type it into an app.
    pub fn to_base32(&self) -> String {
        base32(self.0.expose_secret())
    }

    /// Returns the URI that apps read from a QR code.
    pub fn to_uri(&self, issuer: &str, username: &str) -> String {
        let issuer = utf8_percent_encode(issuer, ENCODED_IN_ISSUER);
        format!(
            "otpauth://totp/{issuer}:{username}?secret={}&issuer={issuer}",
            self.to_base32()
        )
    }

    /// Returns the code that apps show at a time.
    pub fn code_at(&self, millis: i64) -> String {
        format!(
            "{:0width$}",
            self.code_of_step(millis / STEP_MILLIS),
            width = DIGITS as usize
        )
    }

    /// Finds the step of a code around `now`. Steps up to `used` are refused, so that a code works once.
    fn find_step(&self, code: u32, now: i64, used: i64) -> Option<i64> {
        let current = now.div_euclid(STEP_MILLIS);
        let mut steps = (current - TOLERANCE).max(used + 1)..=current + TOLERANCE;
        steps.find(|step| self.code_of_step(*step) == code)
    }

    /// Computes the code of a step, as RFC 4226 defines it.
    fn code_of_step(&self, step: i64) -> u32 {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, self.0.expose_secret());
        let digest = hmac::sign(&key, &step.to_be_bytes());
        let digest = digest.as_ref();
        let offset = usize::from(digest[digest.len() - 1] & 0xf);
        let bytes: [u8; 4] = digest[offset..offset + 4].try_into().expect("four bytes");
        (u32::from_be_bytes(bytes) & 0x7fff_ffff) % 10_u32.pow(DIGITS)
    }
}

/// A code that works once, for those who have lost their phone.
#[derive(Clone, Debug)]
pub struct RecoveryCode(SecretString);

impl RecoveryCode {
    fn generate() -> RecoveryCode {
        let mut bytes = [0; RECOVERY_LENGTH];
        getrandom::fill(&mut bytes).expect("the system has random bytes");
        let letter = |byte: &u8| char::from(BASE32[usize::from(byte % 32)].to_ascii_lowercase());
        RecoveryCode(bytes.iter().map(letter).collect::<String>().into())
    }

    /// Parses a code as people type it.
    fn parse(text: &str) -> Option<RecoveryCode> {
        let letters = text.chars().filter(|c| !c.is_whitespace() && *c != '-');
        let text: String = letters.map(|c| c.to_ascii_lowercase()).collect();
        let is_code = text.len() == RECOVERY_LENGTH
            && text
                .bytes()
                .all(|byte| BASE32.contains(&byte.to_ascii_uppercase()));
        is_code.then(|| RecoveryCode(text.into()))
    }

    /// Returns the code as it is shown, in two groups.
    pub fn to_text(&self) -> String {
        let (first, second) = self.0.expose_secret().split_at(RECOVERY_LENGTH / 2);
        format!("{first}-{second}")
    }

    fn hash(&self, secret: &StoreSecret, account: AccountId) -> [u8; 32] {
        let message = [account.0.as_bytes(), self.0.expose_secret().as_bytes()].concat();
        secret.authenticate("recovery code", &message)
    }
}

/// A code as it was typed.
enum TypedCode {
    Totp(u32),
    Recovery(RecoveryCode),
}

impl TypedCode {
    fn parse(text: &str) -> Option<TypedCode> {
        let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if digits.len() == DIGITS as usize && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return digits.parse().ok().map(TypedCode::Totp);
        }
        RecoveryCode::parse(text).map(TypedCode::Recovery)
    }
}

/// Which kind of code was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedCode {
    Totp,
    Recovery,
}

fn base32(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(5) {
        let mut padded = [0; 8];
        padded[3..3 + group.len()].copy_from_slice(group);
        let bits = u64::from_be_bytes(padded);
        for index in 0..(group.len() * 8).div_ceil(5) {
            let letter = BASE32[(bits >> (35 - 5 * index) & 31) as usize];
            // Writing to a String cannot fail.
            let _ = write!(text, "{}", char::from(letter));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of the test vectors in RFC 6238.
    fn secret() -> TotpSecret {
        TotpSecret::new(*b"12345678901234567890")
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(secret().code_at(seconds * 1_000), code, "{seconds}");
        }
    }

    #[test]
    fn a_code_is_accepted_one_step_early_or_late_and_never_again() {
        let now = 1_800_000_000_000;
        let step = now / STEP_MILLIS;
        let code = secret().code_of_step(step);
        for (later, expected) in [
            (-2, None),
            (-1, Some(step)),
            (0, Some(step)),
            (1, Some(step)),
            (2, None),
        ] {
            assert_eq!(
                secret().find_step(code, now + later * STEP_MILLIS, 0),
                expected,
                "{later}"
            );
        }
        assert_eq!(secret().find_step(code, now, step - 1), Some(step));
        assert_eq!(secret().find_step(code, now, step), None);
    }

    #[test]
    fn a_secret_is_shown_in_base32() {
        // RFC 4648, without padding.
        for (bytes, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
        assert_eq!(
            secret().to_uri("Give & Co", "ada"),
            "otpauth://totp/Give%20%26%20Co:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Give%20%26%20Co"
        );
    }

    #[test]
    fn codes_are_parsed_as_people_type_them() {
        assert!(matches!(
            TypedCode::parse(" 012 345 "),
            Some(TypedCode::Totp(12_345))
        ));
        let code = RecoveryCode::generate();
        let typed = format!(" {} ", code.to_text().to_uppercase().replace('-', " - "));
        let Some(TypedCode::Recovery(parsed)) = TypedCode::parse(&typed) else {
            panic!("{typed}");
        };
        assert_eq!(parsed.to_text(), code.to_text());
        for bad in [
            "",
            "12345",
            "1234567",
            "12345a",
            "abcde-fghi0",
            "abcde-fghijk",
            "é",
        ] {
            assert!(TypedCode::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_secret_is_not_in_debug_output() {
        let debug = format!("{:?} {:?}", secret(), RecoveryCode::parse("abcde-fghij"));
        assert!(!debug.contains("49") && !debug.contains("abcde"), "{debug}");
    }
}
