//! Pictures as they stand in JSON: base64, alone or as a data URL.

use super::fault::PictureFault;
use super::header::MOST_BYTES;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::borrow::Cow;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes of a picture. What media type a data URL claims is not believed.
pub fn decoded(text: &str) -> Result<Vec<u8>, PictureFault> {
    let coded = match text.trim_ascii() {
        "" => return Err(PictureFault::Empty),
        url if url
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) =>
        {
            let (head, coded) = url.split_once(',').ok_or(PictureFault::NotBase64)?;
            let is_coded = head.len() > 7 && head[head.len() - 7..].eq_ignore_ascii_case(";base64");
            if !is_coded {
                return Err(PictureFault::NotBase64);
            }
            coded
        }
        coded => coded,
    };
    let coded = match coded.contains(|c: char| c.is_ascii_whitespace()) {
        true => Cow::Owned(coded.replace(|c: char| c.is_ascii_whitespace(), "")),
        false => Cow::Borrowed(coded),
    };
    if coded.len() > MOST_BYTES.div_ceil(3) * 4 {
        return Err(PictureFault::TooManyBytes);
    }
    BASE64
        .decode(coded.as_bytes())
        .map_err(|_| PictureFault::NotBase64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_taken_bare_or_as_a_data_url_of_any_type_with_or_without_padding() {
        for text in [
            "aGk=",
            "aGk",
            " aG\r\nk= ",
            "data:image/png;base64,aGk=",
            "DATA:text/html;charset=x;BASE64,aGk",
            "data:;base64,aGk=",
        ] {
            assert_eq!(decoded(text).unwrap(), b"hi", "{text}");
        }
    }

    #[test]
    fn what_is_no_base64_is_told() {
        for text in [
            "%%%",
            "aGk=aGk=",
            "data:image/png,aGk=",
            "data:image/png;base64",
            "é",
            "a",
        ] {
            assert_eq!(decoded(text), Err(PictureFault::NotBase64), "{text}");
        }
        assert_eq!(decoded("  "), Err(PictureFault::Empty));
    }

    #[test]
    fn eleven_mebibytes_are_refused_before_they_are_decoded() {
        let text = "A".repeat((11 << 20) / 3 * 4);
        assert_eq!(decoded(&text), Err(PictureFault::TooManyBytes));
    }
}
