//! A secret of 256 random bits that we hand out, as a cookie or in a mail, and keep only as its SHA-256.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

const BYTES: usize = 32;

/// The secret. It does not show itself in logs.
#[derive(Clone, Debug)]
pub struct Token(SecretString);

impl Token {
    /// A new one.
    pub fn generate() -> Token {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).expect("the system has random bytes");
        Token(URL_SAFE_NO_PAD.encode(bytes).into())
    }

    /// Reads one that came back; nothing where it has not the form of ours.
    pub fn parse(text: &str) -> Option<Token> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == BYTES).then(|| Token(text.into()))
    }

    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Under which it is stored.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.expose()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_nothing_else_is() {
        let token = Token::generate();
        assert_eq!(Token::parse(token.expose()).unwrap().hash(), token.hash());
        assert_ne!(Token::generate().hash(), token.hash());
        for bad in [
            "",
            "x",
            &token.expose()[1..],
            &format!("{}A", token.expose()),
            "é",
        ] {
            assert!(Token::parse(bad).is_none(), "{bad}");
        }
        assert!(!format!("{token:?}").contains(token.expose()));
    }
}
