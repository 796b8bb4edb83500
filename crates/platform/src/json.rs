//! Writes JSON directly into a buffer, for responses to every keystroke.

/// Appends a string with its quotes.
pub fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    if is_plain(text) {
        out.extend_from_slice(text.as_bytes());
    } else {
        escape(out, text);
    }
    out.push(b'"');
}

/// Returns whether the text needs no escaping. Hardly any text needs it, and this checks all bytes
/// without a branch.
fn is_plain(text: &str) -> bool {
    !text.bytes().fold(false, |found, byte| found | needs_escape(byte))
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn escape(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| needs_escape(*byte)) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            byte => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Appends an array; `write` writes each element.
pub fn list<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, write: impl Fn(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_strings_are_read_back(texts in proptest::collection::vec(any::<String>(), 0..4)) {
            let mut out = Vec::new();
            list(&mut out, &texts, |out, text| string(out, text));
            prop_assert_eq!(serde_json::from_slice::<Vec<String>>(&out).unwrap(), texts);
        }
    }
}
