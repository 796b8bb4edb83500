//! Why a picture was not taken.

use thiserror::Error;

/// What is wrong with a picture, each a sentence that says what to send instead.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PictureFault {
    #[error("the picture is not base64; send its bytes in base64, alone or as a data URL")]
    NotBase64,
    #[error("the picture is empty; send a PNG, JPEG or WebP picture")]
    Empty,
    #[error("the picture has more than 10 MiB; send a smaller one")]
    TooManyBytes,
    #[error("this is no PNG, JPEG or WebP picture; send one of these")]
    NotAPicture,
    #[error("the picture is {0} × {1} pixels; send at most 8,192 a side and 24 megapixels in all")]
    TooManyPixels(u32, u32),
    #[error(
        "a picture of this kind may have {0} megapixels; send a smaller one, or a baseline JPEG of at most 24"
    )]
    TooHeavy(u32),
    #[error("the picture moves; send a still one")]
    Animated,
    #[error("the picture is cut off or damaged; save it anew and send it whole")]
    Broken,
    #[error("pictures cannot be stored right now; try again")]
    Unavailable,
}

impl PictureFault {
    /// Is it our store that failed, and not the picture?
    pub fn is_ours(self) -> bool {
        self == PictureFault::Unavailable
    }
}
