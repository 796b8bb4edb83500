//! Reads the segments of a JPEG from SOI to EOI.

use super::parts::{Cost, MAX_STORED_SIDE, Properties, check_size};
use crate::downscale::fit_within;
use crate::error::PictureError;
use crate::jpeg::frame::{Frame, Scan};
use crate::jpeg::segments::{Marker, SegmentReader};
use crate::orientation::Orientation;

/// The cost of each pixel, and of each block each time a scan visits it.
const PIXEL_COST: u64 = 4;
const BLOCK_COST: u64 = 14;
/// The cost of each byte if one scan contains the whole picture, and if blocks are spread over several scans.
const SINGLE_SCAN_BYTE_COST: u64 = 8;
const MULTIPLE_SCAN_BYTE_COST: u64 = 28;

pub(super) fn read(bytes: &[u8]) -> Result<Properties, PictureError> {
    let mut segments = SegmentReader::new(bytes);
    let mut frame: Option<Frame> = None;
    let mut orientation = None;
    let (mut scan_count, mut block_count) = (0, 0);
    let mut has_single_scan = true;
    let mut ignored_bytes = 0;
    loop {
        let (marker, segment) = segments.next().ok_or(PictureError::Damaged)?;
        match marker {
            Marker::EndOfImage => break,
            Marker::Frame { is_progressive } if frame.is_none() => {
                let new_frame = Frame::read(segment, is_progressive).ok_or(PictureError::Damaged)?;
                check_size(new_frame.width, new_frame.height)?;
                frame = Some(new_frame);
            }
            Marker::Frame { .. } | Marker::UnsupportedFrame => return Err(PictureError::Damaged),
            Marker::App(1) if orientation.is_none() && segment.starts_with(b"Exif\0\0") => {
                orientation = Some(Orientation::from_exif(segment));
            }
            Marker::Scan => {
                let frame = frame.as_ref().ok_or(PictureError::Damaged)?;
                let scan = Scan::read(segment, frame).ok_or(PictureError::Damaged)?;
                scan_count += 1;
                has_single_scan &= scan.is_complete(frame);
                block_count += frame.scan_block_count(&scan);
                segments.skip_scan_data(segments.position());
            }
            _ => ignored_bytes += segment.len(),
        }
    }
    let frame = frame.filter(|_| scan_count > 0).ok_or(PictureError::Damaged)?;
    let target = fit_within(frame.width, frame.height, MAX_STORED_SIDE);
    let (byte_cost, decode_memory) = if has_single_scan {
        (SINGLE_SCAN_BYTE_COST, 0)
    } else {
        (MULTIPLE_SCAN_BYTE_COST, frame.coefficient_memory(target))
    };
    let pixel_count = u64::from(frame.width) * u64::from(frame.height);
    let length = segments.position();
    Ok(Properties {
        width: frame.width,
        height: frame.height,
        orientation: orientation.unwrap_or_default(),
        length,
        decode_memory,
        cost: Cost {
            pixels: pixel_count * PIXEL_COST + block_count * BLOCK_COST,
            bytes: (length - ignored_bytes) as u64 * byte_cost,
        },
        alpha_flag: None,
    })
}
