//! Writing JSON by hand, where an answer is made for every keystroke.

/// Appends a string with its quotes.
pub fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest
        .iter()
        .position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\')
    {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            byte => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends an array of strings.
pub fn strings<'a>(out: &mut Vec<u8>, texts: impl Iterator<Item = &'a str>) {
    out.push(b'[');
    for (place, text) in texts.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        string(out, text);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_back(texts in proptest::collection::vec(any::<String>(), 0..4)) {
            let mut out = Vec::new();
            strings(&mut out, texts.iter().map(String::as_str));
            prop_assert_eq!(serde_json::from_slice::<Vec<String>>(&out).unwrap(), texts);
        }
    }
}
