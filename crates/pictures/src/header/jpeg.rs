//! Reads the segments of a JPEG from SOI to EOI.

use super::parts::{Cost, Properties, check_size};
use crate::error::PictureError;
use crate::jpeg::frame::Frame;
use crate::jpeg::segments::{Marker, SegmentReader};
use crate::orientation::Orientation;

/// The cost of each pixel, of each block of the picture if several scans contribute to it, and of each block each time a
/// scan visits it.
const PIXEL_COST: u64 = 5;
const STORED_BLOCK_COST: u64 = 80;
const VISITED_BLOCK_COST: u64 = 10;
/// The cost of each byte if one scan contains the whole picture, if blocks are spread over several scans, and in tables.
const SINGLE_SCAN_BYTE_COST: u64 = 8;
const MULTIPLE_SCAN_BYTE_COST: u64 = 28;
const TABLE_BYTE_COST: u64 = 100;
/// The bytes of a block while later scans can still change it.
const BLOCK_MEMORY: u64 = 128;

pub(super) fn read(bytes: &[u8]) -> Result<Properties, PictureError> {
    let mut segments = SegmentReader::new(bytes);
    let mut frame: Option<Frame> = None;
    let mut orientation = None;
    let (mut scan_count, mut visited_blocks) = (0, 0);
    let mut has_single_scan = true;
    let (mut scan_bytes, mut table_bytes) = (0, 0);
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
                let scan = frame.read_scan(segment).ok_or(PictureError::Damaged)?;
                scan_count += 1;
                has_single_scan &= scan.is_complete;
                visited_blocks += scan.blocks;
                let start = segments.position();
                segments.skip_scan_data();
                scan_bytes += segments.position() - start;
            }
            Marker::Tables => table_bytes += segment.len(),
            _ => {}
        }
    }
    let frame = frame.filter(|_| scan_count > 0).ok_or(PictureError::Damaged)?;
    let pixels = u64::from(frame.width) * u64::from(frame.height);
    let (byte_cost, stored_blocks) = if has_single_scan {
        (SINGLE_SCAN_BYTE_COST, 0)
    } else {
        (MULTIPLE_SCAN_BYTE_COST, frame.blocks())
    };
    let channels = if frame.components.len() == 1 { 1 } else { 3 };
    Ok(Properties {
        width: frame.width,
        height: frame.height,
        orientation: orientation.unwrap_or_default(),
        length: segments.position(),
        // The file is copied without its metadata.
        decode_memory: pixels * channels + stored_blocks * BLOCK_MEMORY + segments.position() as u64,
        cost: Cost {
            pixels: pixels * PIXEL_COST
                + stored_blocks * STORED_BLOCK_COST
                + visited_blocks * VISITED_BLOCK_COST
                + table_bytes as u64 * TABLE_BYTE_COST,
            bytes: scan_bytes as u64 * byte_cost,
        },
        alpha_flag: None,
    })
}
