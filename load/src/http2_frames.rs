//! HTTP/2 frames for clients that misbehave on purpose, which a library would not send (RFC 9113).
//!
//! Header fields are written without compression, so that a request is a few bytes that can be sent many times.

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;

const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

const INITIAL_WINDOW_SIZE: u16 = 4;
const CANCEL: u32 = 8;

/// Returns the preface of a connection whose client grants each response a window of `window` bytes.
pub(crate) fn preface(window: u32) -> Vec<u8> {
    let mut bytes = PREFACE.to_vec();
    let mut settings = INITIAL_WINDOW_SIZE.to_be_bytes().to_vec();
    settings.extend(window.to_be_bytes());
    push_frame(&mut bytes, SETTINGS, 0, 0, &settings);
    bytes
}

/// Appends a GET request as stream number `index`. `path` is shorter than 127 bytes.
pub(crate) fn push_get(bytes: &mut Vec<u8>, index: u32, authority: &str, path: &str) {
    // Indexes of the static table (RFC 7541, appendix A): 2 is GET, 6 is http, 4 is :path, 1 is :authority.
    let mut fields = vec![0x82, 0x86];
    for (name_index, value) in [(4, path), (1, authority)] {
        let length = u8::try_from(value.len()).ok().filter(|length| *length < 127);
        fields.extend([name_index, length.expect("a short value")]);
        fields.extend(value.as_bytes());
    }
    push_frame(
        bytes,
        HEADERS,
        END_STREAM | END_HEADERS,
        stream_id(index),
        &fields,
    );
}

/// Appends the cancellation of stream number `index`.
pub(crate) fn push_reset(bytes: &mut Vec<u8>, index: u32) {
    push_frame(bytes, RST_STREAM, 0, stream_id(index), &CANCEL.to_be_bytes());
}

/// Returns the ID of the stream that a client opens as its `index`th. Clients use odd IDs.
fn stream_id(index: u32) -> u32 {
    2 * index + 1
}

fn push_frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    bytes.extend(&length[1..]);
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_frame_with_four_fields() {
        let mut bytes = Vec::new();
        push_get(&mut bytes, 1, "a", "/b");
        assert_eq!(
            bytes,
            b"\x00\x00\x09\x01\x05\x00\x00\x00\x03\x82\x86\x04\x02/b\x01\x01a"
        );
    }

    #[test]
    fn a_reset_names_its_stream_and_a_preface_its_window() {
        let mut bytes = Vec::new();
        push_reset(&mut bytes, 0);
        assert_eq!(bytes, b"\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x08");
        assert!(preface(1).ends_with(b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x01"));
    }
}
