//! Parses `multipart/form-data` (RFC 7578), the encoding of forms with files.
//!
//! The body is in memory already, because it has to be within the shared budget for bodies, so a few lines find the parts
//! in it. A streaming parser would bring a library for character sets.

use memchr::memmem;

/// The maximum number of parts. Our forms have fewer fields.
const MAX_PARTS: usize = 100;

/// A field of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub name: String,
    /// Whether it is a file input, chosen or not.
    pub is_file: bool,
    /// Whether a file was chosen.
    pub has_file_name: bool,
    pub content: &'a [u8],
}

/// Returns the boundary between parts that a media type names.
pub(super) fn boundary(media_type: &str) -> Option<String> {
    let (essence, parameters) = media_type.split_once(';')?;
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let mut parameters = parameters.split(';').map(str::trim);
    let boundary = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.eq_ignore_ascii_case("boundary")
            .then(|| value.trim_matches('"').to_owned())
    })?;
    (1..=70).contains(&boundary.len()).then_some(boundary)
}

/// Returns the parts of a body, or `None` if it is not complete.
pub(super) fn parse<'a>(boundary: &str, body: &'a [u8]) -> Option<Vec<Part<'a>>> {
    let delimiter = format!("\r\n--{boundary}");
    let mut rest = body.strip_prefix(&delimiter.as_bytes()[2..])?;
    let mut parts = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let head_end = memmem::find(rest, b"\r\n\r\n")?;
        let (head, content) = (&rest[..head_end], &rest[head_end + 4..]);
        let end = memmem::find(content, delimiter.as_bytes())?;
        if parts.len() == MAX_PARTS {
            return None;
        }
        parts.push(part(str::from_utf8(head).ok()?, &content[..end])?);
        rest = &content[end + delimiter.len()..];
    }
}

fn part<'a>(head: &str, content: &'a [u8]) -> Option<Part<'a>> {
    let disposition = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-disposition").then_some(value)
    })?;
    let file_name = parameter(disposition, "filename");
    Some(Part {
        name: parameter(disposition, "name")?.to_owned(),
        is_file: file_name.is_some(),
        has_file_name: file_name.is_some_and(|name| !name.is_empty()),
        content,
    })
}

/// Returns a quoted parameter. Browsers write a quotation mark inside it as %22.
fn parameter<'a>(disposition: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("; {name}=\"");
    let (_, value) = disposition.split_once(&start)?;
    value.split_once('"').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA\r\nrun\r\n\
        --x\r\ncontent-disposition: form-data; name=\"image\"; filename=\"name=%22.png\"\r\nContent-Type: image/png\r\n\r\n\
        \x89\x00\r\n--y\r\n--x--\r\n";

    #[test]
    fn fields_and_files_are_found() {
        let parts = parse("x", BODY).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(
            (parts[0].name.as_str(), parts[0].content),
            ("title", &b"A\r\nrun"[..])
        );
        assert!(!parts[0].is_file);
        assert_eq!(
            (parts[1].name.as_str(), parts[1].content),
            ("image", &b"\x89\x00\r\n--y"[..])
        );
        assert!(parts[1].is_file && parts[1].has_file_name);
        assert_eq!(parse("x", b"--x--"), Some(Vec::new()));
    }

    #[test]
    fn a_body_that_is_cut_off_anywhere_is_refused() {
        for end in 0..BODY.len() - 4 {
            assert_eq!(parse("x", &BODY[..end]), None, "{end}");
        }
        for bad in [
            &b"x"[..],
            b"--x\r\n\r\n\r\n\r\n--x--",
            b"--x\r\nA: b\r\n\r\n\r\n--x--",
        ] {
            assert_eq!(parse("x", bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_boundary_is_a_parameter_of_the_media_type() {
        let found = |text: &str| boundary(text);
        assert_eq!(found("multipart/form-data; boundary=abc").as_deref(), Some("abc"));
        assert_eq!(
            found("Multipart/Form-Data; charset=utf-8; boundary=\"a b\"").as_deref(),
            Some("a b")
        );
        for bad in [
            "multipart/form-data",
            "multipart/mixed; boundary=a",
            "multipart/form-data; boundary=",
        ] {
            assert_eq!(found(bad), None, "{bad}");
        }
    }
}
