//! PNG: chunks from IHDR to IEND (<https://www.w3.org/TR/png-3/>).

use super::{Found, Work, admit_size, be32, orientation};
use crate::error::PictureFault;
use image::metadata::Orientation;

const SIGNATURE: usize = 8;
/// Length and type before the data of a chunk, checksum behind.
const FRAME: usize = 12;
const GREY: u8 = 0;
const GREY_ALPHA: u8 = 4;
const RGBA: u8 = 6;
/// What a pixel costs, whatever it holds, and what one costs that comes in seven passes; and what a byte does.
const PIXEL_WORK: u64 = 7;
const PASSED_PIXEL_WORK: u64 = 13;
const BYTE_WORK: u64 = 12;

pub fn read(bytes: &[u8]) -> Result<Found, PictureFault> {
    let mut at = SIGNATURE;
    let mut head: Option<Head> = None;
    let mut has_alpha_color = false;
    let mut turned = Orientation::NoTransforms;
    loop {
        let (kind, data) = chunk(bytes, at).ok_or(PictureFault::Broken)?;
        at += FRAME + data.len();
        match (kind, &head) {
            (b"IHDR", None) => {
                let found = Head::read(data).ok_or(PictureFault::Broken)?;
                admit_size(found.width, found.height)?;
                head = Some(found);
            }
            (b"IHDR", Some(_)) | (_, None) => return Err(PictureFault::Broken),
            (b"acTL" | b"fcTL" | b"fdAT", _) => return Err(PictureFault::Animated),
            (b"tRNS", _) => has_alpha_color = true,
            (b"eXIf", _) => turned = orientation(data),
            (b"IEND", Some(head)) => {
                return Ok(Found {
                    width: head.width,
                    height: head.height,
                    orientation: turned,
                    length: at,
                    memory: head.memory(has_alpha_color),
                    work: head.work(at as u64),
                    disguise: None,
                });
            }
            _ => {}
        }
    }
}

/// The next chunk. Where the picture cannot be shown without it, its checksum must be right.
fn chunk(bytes: &[u8], at: usize) -> Option<(&[u8; 4], &[u8])> {
    let length = be32(bytes, at)? as usize;
    let kind: &[u8; 4] = bytes.get(at + 4..at + 8)?.try_into().ok()?;
    let end = (at + 8).checked_add(length)?;
    let data = bytes.get(at + 8..end)?;
    let checksum = be32(bytes, end)?;
    let is_needed = kind[0].is_ascii_uppercase();
    (!is_needed || crc32fast::hash(&bytes[at + 4..end]) == checksum).then_some((kind, data))
}

/// What the first chunk says.
struct Head {
    width: u32,
    height: u32,
    color: u8,
    is_interlaced: bool,
}

impl Head {
    fn read(data: &[u8]) -> Option<Head> {
        Some(Head {
            width: be32(data, 0)?,
            height: be32(data, 4)?,
            color: *data.get(9)?,
            is_interlaced: *data.get(12)? != 0,
        })
    }

    /// Rows that come one by one are averaged as they come. Those of seven passes are put together first, with eight
    /// bits a channel, whatever they had.
    fn memory(&self, has_alpha_color: bool) -> u64 {
        if !self.is_interlaced {
            return 0;
        }
        let channels = match self.color {
            GREY => 1,
            GREY_ALPHA => 2,
            RGBA => 4,
            _ => 3,
        };
        let has_another = has_alpha_color && !matches!(self.color, GREY_ALPHA | RGBA);
        self.pixels() * (channels + u64::from(has_another))
    }

    fn work(&self, length: u64) -> Work {
        let pixel = if self.is_interlaced {
            PASSED_PIXEL_WORK
        } else {
            PIXEL_WORK
        };
        Work {
            shape: self.pixels() * pixel,
            bytes: length * BYTE_WORK,
        }
    }

    fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}
