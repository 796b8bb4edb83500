//! PNG: chunks from IHDR to IEND (<https://www.w3.org/TR/png-3/>).

use super::{Found, admit_size, be32, orientation};
use crate::media::fault::PictureFault;
use image::metadata::Orientation;

const SIGNATURE: usize = 8;
/// Length and type before the data of a chunk, checksum behind.
const FRAME: usize = 12;
const GREY: u8 = 0;
const GREY_ALPHA: u8 = 4;
const RGBA: u8 = 6;

pub fn read(bytes: &[u8]) -> Result<Found, PictureFault> {
    let mut at = SIGNATURE;
    let mut head: Option<(u32, u32, u8, u8)> = None;
    let mut has_alpha_color = false;
    let mut turned = Orientation::NoTransforms;
    loop {
        let (kind, data) = chunk(bytes, at).ok_or(PictureFault::Broken)?;
        at += FRAME + data.len();
        match (kind, head) {
            (b"IHDR", None) => {
                let (width, height) = be32(data, 0).zip(be32(data, 4)).ok_or(PictureFault::Broken)?;
                admit_size(width, height)?;
                let (depth, color) = data.get(8).zip(data.get(9)).ok_or(PictureFault::Broken)?;
                head = Some((width, height, *depth, *color));
            }
            (b"IHDR", Some(_)) | (_, None) => return Err(PictureFault::Broken),
            (b"acTL" | b"fcTL" | b"fdAT", _) => return Err(PictureFault::Animated),
            (b"tRNS", _) => has_alpha_color = true,
            (b"eXIf", _) => turned = orientation(data),
            (b"IEND", Some((width, height, depth, color))) => {
                return Ok(Found {
                    width,
                    height,
                    orientation: turned,
                    length: at,
                    sixteenths: sixteenths(depth, color, has_alpha_color),
                });
            }
            _ => {}
        }
    }
}

fn chunk(bytes: &[u8], at: usize) -> Option<(&[u8; 4], &[u8])> {
    let length = be32(bytes, at)? as usize;
    let kind = bytes.get(at + 4..at + 8)?.try_into().ok()?;
    let data = bytes.get(at + 8..(at + 8).checked_add(length)?)?;
    // The checksum must be there; the decoder compares it.
    bytes.get(at + 8 + length..at + FRAME + length)?;
    Some((kind, data))
}

/// Palettes and less than eight bits are decoded to eight bits a channel; sixteen are kept until they are cut to eight.
fn sixteenths(depth: u8, color: u8, has_alpha_color: bool) -> u64 {
    let channels = match color {
        GREY => 1,
        GREY_ALPHA => 2,
        RGBA => 4,
        _ => 3,
    };
    let channels = channels + u64::from(has_alpha_color && !matches!(color, GREY_ALPHA | RGBA));
    channels * if depth == 16 { 16 * 3 } else { 16 }
}
