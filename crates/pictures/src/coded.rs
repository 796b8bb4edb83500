//! Pictures as they stand in JSON: base64, alone or as a data URL.

use super::error::PictureFault;
use super::header::MOST_BYTES;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Letters that the longest picture takes.
const MOST_CODED: usize = MOST_BYTES.div_ceil(3) * 4;

/// The bytes of a picture. What media type a data URL claims is not believed.
pub fn decoded(text: &str) -> Result<Vec<u8>, PictureFault> {
    let coded = match text.trim_ascii() {
        "" => return Err(PictureFault::Empty),
        url if url
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) =>
        {
            let (head, coded) = url.split_once(',').ok_or(PictureFault::NotBase64)?;
            let last = head.as_bytes().last_chunk::<7>();
            if !last.is_some_and(|last| last.eq_ignore_ascii_case(b";base64")) {
                return Err(PictureFault::NotBase64);
            }
            coded
        }
        coded => coded,
    };
    // Hardly any has spaces or lines, so they are looked for only where it matters.
    match coded.len() <= MOST_CODED {
        true => BASE64.decode(coded).or_else(|_| BASE64.decode(unspaced(coded))),
        false => match unspaced(coded) {
            coded if coded.len() > MOST_CODED => return Err(PictureFault::TooManyBytes),
            coded => BASE64.decode(coded),
        },
    }
    .map_err(|_| PictureFault::NotBase64)
}

fn unspaced(coded: &str) -> Vec<u8> {
    coded.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect()
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
            "data:ééééé,aGk=",
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
