//! Decodes pictures sent as text: plain base64 or a data URL.

use crate::error::PictureError;
use crate::header::MAX_FILE_SIZE;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The base64 length of the largest accepted picture.
const MAX_BASE64_LENGTH: usize = MAX_FILE_SIZE.div_ceil(3) * 4;

/// Returns the bytes of a picture sent as base64 or as a data URL.
///
/// The media type of a data URL is ignored: the format is detected from the bytes.
pub fn decode(text: &str) -> Result<Vec<u8>, PictureError> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Err(PictureError::Empty);
    }
    let is_data_url = text
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    let base64 = if is_data_url {
        data_url_payload(text)?
    } else {
        text
    };
    // Whitespace is rare, so it is only removed if decoding fails or the text seems too long.
    let decoded = if base64.len() <= MAX_BASE64_LENGTH {
        BASE64
            .decode(base64)
            .or_else(|_| BASE64.decode(without_whitespace(base64)))
    } else {
        let base64 = without_whitespace(base64);
        if base64.len() > MAX_BASE64_LENGTH {
            return Err(PictureError::TooManyBytes);
        }
        BASE64.decode(base64)
    };
    decoded.map_err(|_| PictureError::InvalidBase64)
}

fn data_url_payload(url: &str) -> Result<&str, PictureError> {
    let (head, payload) = url.split_once(',').ok_or(PictureError::InvalidBase64)?;
    let suffix = head.as_bytes().last_chunk::<7>();
    if suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(b";base64")) {
        Ok(payload)
    } else {
        Err(PictureError::InvalidBase64)
    }
}

fn without_whitespace(text: &str) -> Vec<u8> {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_accepted_bare_or_in_a_data_url_with_or_without_padding() {
        for text in [
            "aGk=",
            "aGk",
            " aG\r\nk= ",
            "data:image/png;base64,aGk=",
            "DATA:text/html;charset=x;BASE64,aGk",
            "data:;base64,aGk=",
        ] {
            assert_eq!(decode(text).unwrap(), b"hi", "{text}");
        }
    }

    #[test]
    fn invalid_base64_is_refused() {
        for text in [
            "%%%",
            "aGk=aGk=",
            "data:image/png,aGk=",
            "data:image/png;base64",
            "data:ééééé,aGk=",
            "é",
            "a",
        ] {
            assert_eq!(decode(text), Err(PictureError::InvalidBase64), "{text}");
        }
        assert_eq!(decode("  "), Err(PictureError::Empty));
    }

    #[test]
    fn eleven_mebibytes_are_refused_before_they_are_decoded() {
        let text = "A".repeat((11 << 20) / 3 * 4);
        assert_eq!(decode(&text), Err(PictureError::TooManyBytes));
    }
}
