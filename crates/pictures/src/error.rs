//! The reasons for which a picture is refused.

use thiserror::Error;

/// The reason for which a picture was refused. Each message says what to send instead.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PictureError {
    #[error("the picture is not valid base64; send base64 text or a data URL")]
    InvalidBase64,
    #[error("the picture is empty; send a PNG, JPEG or WebP picture")]
    Empty,
    #[error("the picture is larger than 10 MiB; send a smaller one")]
    TooManyBytes,
    #[error("this is not a PNG, JPEG or WebP picture; send one of these formats")]
    UnsupportedFormat,
    #[error(
        "the picture is {0} × {1} pixels; send one with at most 8,192 pixels per side and 24 megapixels in total"
    )]
    TooManyPixels(u32, u32),
    /// Decoding would take too long or too much memory. Holds the number of megapixels that would be accepted.
    #[error(
        "a picture of this kind may have at most {0} megapixels; send a smaller one, or a baseline JPEG of at most 24 megapixels"
    )]
    TooExpensive(u32),
    #[error("the picture is animated; send a still picture")]
    Animated,
    #[error("the picture is truncated or damaged; save it again and send the whole file")]
    Damaged,
    /// Never returned by this crate. The pictures of an account would take more than this number of MiB.
    #[error(
        "the pictures of this account may take at most {0} MiB in total; replace or remove some, and try again when they have been unused for a day"
    )]
    OverQuota(u64),
    /// Never returned by this crate. It lets callers that store pictures report a failed store with the same type.
    #[error("pictures cannot be stored right now; try again later")]
    Unavailable,
}

impl PictureError {
    /// Returns whether the store failed, rather than the picture being unacceptable.
    pub fn is_unavailable(self) -> bool {
        self == PictureError::Unavailable
    }
}
