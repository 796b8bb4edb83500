//! JPEG: markers from SOI to EOI.

use super::{Found, Work, admit_size, orientation};
use crate::error::PictureFault;
use crate::jpeg::frame::{Frame, Scan};
use crate::jpeg::markers::{Marker, Markers};
use crate::picture::LONGEST_KEPT;
use crate::shrink::fitting;
use image::metadata::Orientation;

/// What a pixel costs that comes out, and a block whenever a scan walks over it.
const PIXEL_WORK: u64 = 4;
const BLOCK_WORK: u64 = 14;
/// What a byte costs where one scan has all, and where bits of one block are spread over several.
const WHOLE_BYTE_WORK: u64 = 8;
const GATHERED_BYTE_WORK: u64 = 28;

pub fn read(bytes: &[u8]) -> Result<Found, PictureFault> {
    let mut markers = Markers::new(bytes);
    let mut frame: Option<Frame> = None;
    let mut turned = None;
    let (mut scans, mut blocks) = (0, 0);
    let mut is_whole = true;
    // Bytes of segments that nobody decodes.
    let mut besides = 0;
    while let Some((marker, segment)) = markers.next().ok_or(PictureFault::Broken)? {
        match marker {
            Marker::Frame { is_progressive } if frame.is_none() => {
                let found = Frame::read(segment, is_progressive).ok_or(PictureFault::Broken)?;
                admit_size(found.width, found.height)?;
                frame = Some(found);
            }
            Marker::Frame { .. } | Marker::OtherFrame => return Err(PictureFault::Broken),
            Marker::App(1) if turned.is_none() && segment.starts_with(b"Exif\0\0") => {
                turned = Some(orientation(segment));
            }
            Marker::Scan => {
                let frame = frame.as_ref().ok_or(PictureFault::Broken)?;
                scans += 1;
                let scan = Scan::read(segment, frame).ok_or(PictureFault::Broken)?;
                is_whole &= !frame.is_progressive && scan.parts.len() == frame.components.len();
                blocks += frame.blocks_of(&scan);
                markers.go_behind_scan(markers.at());
            }
            _ => besides += segment.len(),
        }
    }
    let frame = frame.filter(|_| scans > 0).ok_or(PictureFault::Broken)?;
    let to = fitting(frame.width, frame.height, LONGEST_KEPT);
    let byte = if is_whole {
        WHOLE_BYTE_WORK
    } else {
        GATHERED_BYTE_WORK
    };
    let pixels = u64::from(frame.width) * u64::from(frame.height);
    Ok(Found {
        width: frame.width,
        height: frame.height,
        orientation: turned.unwrap_or(Orientation::NoTransforms),
        length: markers.at(),
        memory: if is_whole { 0 } else { frame.gathered(to) },
        work: Work {
            shape: pixels * PIXEL_WORK + blocks * BLOCK_WORK,
            bytes: (markers.at() - besides) as u64 * byte,
        },
        disguise: None,
    })
}
