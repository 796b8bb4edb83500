//! A random secret of 256 bits for a cookie or a link. Only its SHA-256 is stored.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

const BYTES: usize = 32;

/// A secret. Its `Debug` output does not reveal it.
#[derive(Clone, Debug)]
pub struct Token(SecretString);

impl Token {
    /// Generates a new token.
    pub fn generate() -> Token {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).expect("the system has random bytes");
        Token(URL_SAFE_NO_PAD.encode(bytes).into())
    }

    /// Parses a token. Returns `None` if the text does not have the form of one.
    pub fn parse(text: &str) -> Option<Token> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == BYTES).then(|| Token(text.into()))
    }

    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the SHA-256 under which the token is stored.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.expose()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_parse() {
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
