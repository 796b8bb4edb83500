//! Reads the header of a picture and decides whether it is worth decoding.
//!
//! The format is detected from the first bytes. The reader of each format walks over the whole file without decoding it, so
//! that the decoder receives a single still picture of a single size, and nothing after its end.

mod jpeg;
mod parts;
mod png;
mod webp;

pub(crate) use self::parts::MAX_STORED_SIDE;
pub use self::parts::{Format, Header, MAX_DECODE_MEMORY, MAX_FILE_SIZE};

use crate::error::PictureError;

impl Header {
    /// Reads the header of a picture and checks it against all limits.
    pub fn read(bytes: &[u8]) -> Result<Header, PictureError> {
        if bytes.is_empty() {
            return Err(PictureError::Empty);
        }
        if bytes.len() > MAX_FILE_SIZE {
            return Err(PictureError::TooManyBytes);
        }
        Header::read_of_any_size(bytes)
    }

    /// Reads the header of a picture and checks it against all limits except that of the file size.
    pub(crate) fn read_of_any_size(bytes: &[u8]) -> Result<Header, PictureError> {
        let format = Format::detect(bytes).ok_or(PictureError::UnsupportedFormat)?;
        let properties = match format {
            Format::Png => png::read(bytes),
            Format::Jpeg => jpeg::read(bytes),
            Format::WebP => webp::read(bytes),
        }?;
        properties.admit(format)
    }
}
