//! Decodes JPEGs directly into a smaller size.
//!
//! This takes a fraction of the time and memory of decoding the full size first: coefficients that the smaller size does not
//! need are neither stored nor transformed. Terms follow the standard, ITU-T T.81.

mod bit_reader;
mod coefficients;
mod color;
pub(crate) mod frame;
mod huffman;
mod inverse_dct;
mod plane;
mod scan;
pub(crate) mod segments;
mod tables;

use self::coefficients::CoefficientBuffer;
use self::color::ColorSpace;
use self::frame::{Frame, Scan};
use self::inverse_dct::BlockScale;
use self::plane::{Plane, PlaneDecoder};
use self::scan::ScanDecoder;
use self::segments::{Marker, SegmentReader};
use self::tables::{QuantizationTable, Tables};
use crate::bitmap::Bitmap;
use crate::error::PictureError;

/// Decodes a JPEG into a `(width, height)` that is not larger than its own.
pub(crate) fn decode(bytes: &[u8], target: (u32, u32)) -> Result<Bitmap, PictureError> {
    let mut decoder = Decoder {
        target,
        tables: Tables::default(),
        frame: None,
        adobe_transform: None,
        has_jfif: false,
        progress: Progress::NotStarted,
    };
    decoder.decode(bytes).ok_or(PictureError::Damaged)
}

struct Decoder {
    target: (u32, u32),
    tables: Tables,
    frame: Option<Frame>,
    /// The color transform named by an Adobe segment.
    adobe_transform: Option<u8>,
    has_jfif: bool,
    progress: Progress,
}

enum Progress {
    NotStarted,
    /// Several scans contribute to the picture.
    Accumulating(Vec<ComponentCoefficients>),
    Complete(Vec<Plane>),
}

struct ComponentCoefficients {
    buffer: CoefficientBuffer,
    /// The table that was in effect at the first scan of the component.
    quantization: Option<QuantizationTable>,
}

impl Decoder {
    /// Returns `None` if the file is damaged; so do all functions below.
    fn decode(&mut self, bytes: &[u8]) -> Option<Bitmap> {
        let mut segments = SegmentReader::new(bytes);
        loop {
            let (marker, segment) = segments.next()?;
            match marker {
                Marker::EndOfImage => return self.finish(),
                Marker::QuantizationTables => self.tables.read_quantization_tables(segment)?,
                Marker::HuffmanTables => self.tables.read_huffman_tables(segment)?,
                Marker::RestartInterval => self.tables.read_restart_interval(segment)?,
                Marker::Frame { is_progressive } if self.frame.is_none() => {
                    self.frame = Some(Frame::read(segment, is_progressive)?);
                }
                Marker::Frame { .. } | Marker::UnsupportedFrame => return None,
                Marker::App(0) => self.has_jfif |= segment.starts_with(b"JFIF\0"),
                Marker::App(14) if segment.starts_with(b"Adobe") => {
                    self.adobe_transform = segment.get(11).copied();
                }
                Marker::App(_) | Marker::Other => {}
                Marker::Scan => {
                    let end = self.decode_scan(bytes, segment, segments.position())?;
                    segments.skip_scan_data(end);
                }
            }
        }
    }

    /// Decodes a scan and returns the position where it ends.
    fn decode_scan(&mut self, bytes: &[u8], segment: &[u8], position: usize) -> Option<usize> {
        let frame = self.frame.as_ref()?;
        let scan = Scan::read(segment, frame)?;
        let decoder = ScanDecoder::new(frame, &scan, &self.tables, bytes, position);
        if scan.is_complete(frame) {
            if !matches!(self.progress, Progress::NotStarted) {
                return None;
            }
            let (planes, end) = decode_complete_scan(frame, &scan, &self.tables, decoder, self.target)?;
            self.progress = Progress::Complete(planes);
            return Some(end);
        }
        if let Progress::NotStarted = self.progress {
            let components = frame.components.iter().map(|component| {
                let scale = BlockScale::for_target(component.size, self.target);
                ComponentCoefficients {
                    buffer: CoefficientBuffer::new(frame, component, scale),
                    quantization: None,
                }
            });
            self.progress = Progress::Accumulating(components.collect());
        }
        let Progress::Accumulating(components) = &mut self.progress else {
            return None;
        };
        for part in &scan.components {
            let table = frame.components[part.index].quantization_table;
            let quantization = &mut components[part.index].quantization;
            *quantization = quantization.or(*self.tables.quantization.get(table)?);
        }
        accumulate_scan(frame, &scan, decoder, components)
    }

    fn finish(&mut self) -> Option<Bitmap> {
        let frame = self.frame.take()?;
        let planes = match std::mem::replace(&mut self.progress, Progress::NotStarted) {
            Progress::NotStarted => return None,
            Progress::Complete(planes) => planes,
            Progress::Accumulating(coefficients) => {
                let components = frame.components.iter().zip(coefficients);
                let planes = components.map(|(component, coefficients)| {
                    let decoder =
                        PlaneDecoder::new(&frame, component, &coefficients.quantization?, self.target);
                    Some(render_plane(
                        decoder,
                        &coefficients.buffer,
                        frame.padded_block_count(component),
                    ))
                });
                planes.collect::<Option<Vec<Plane>>>()?
            }
        };
        let color_space = ColorSpace::detect(&frame, self.adobe_transform, self.has_jfif);
        Some(color_space.to_bitmap(planes, self.target))
    }
}

/// Decodes a scan that contains the whole picture; blocks are rendered as soon as they are decoded.
fn decode_complete_scan(
    frame: &Frame,
    scan: &Scan,
    tables: &Tables,
    mut decoder: ScanDecoder,
    target: (u32, u32),
) -> Option<(Vec<Plane>, usize)> {
    let mut plane_decoders = Vec::new();
    for part in &scan.components {
        let component = &frame.components[part.index];
        let quantization = tables.quantization.get(component.quantization_table)?.as_ref()?;
        plane_decoders.push(PlaneDecoder::new(frame, component, quantization, target));
    }
    for row in 0..decoder.mcu_rows() {
        decoder.decode_mcu_row(row, |block_decoder, block| {
            let plane_decoder = &mut plane_decoders[block.scan_component];
            let transform = plane_decoder.transform();
            block_decoder.decode_sequential(transform.last_retained(), |index, value| {
                transform.add(index, value);
            })?;
            let component = &frame.components[scan.components[block.scan_component].index];
            let first_row = row * component.vertical_sampling as usize;
            plane_decoder.render_block(block.column, block.row - first_row);
            Some(())
        })?;
        for (plane_decoder, part) in plane_decoders.iter_mut().zip(&scan.components) {
            plane_decoder.finish_block_rows(frame.components[part.index].vertical_sampling as usize);
        }
    }
    let mut planes: Vec<(usize, Plane)> = plane_decoders
        .into_iter()
        .zip(&scan.components)
        .map(|(plane_decoder, part)| (part.index, plane_decoder.finish()))
        .collect();
    planes.sort_by_key(|(index, _)| *index);
    Some((
        planes.into_iter().map(|(_, plane)| plane).collect(),
        decoder.position(),
    ))
}

/// Adds the coefficients of a scan that contains a part of the picture to those of earlier scans.
fn accumulate_scan(
    frame: &Frame,
    scan: &Scan,
    mut decoder: ScanDecoder,
    components: &mut [ComponentCoefficients],
) -> Option<usize> {
    for row in 0..decoder.mcu_rows() {
        decoder.decode_mcu_row(row, |block_decoder, block| {
            let buffer = &mut components[scan.components[block.scan_component].index].buffer;
            let block = buffer.block_index(block);
            if frame.is_progressive {
                block_decoder.decode_progressive(buffer, block)
            } else {
                block_decoder.decode_sequential(63, |index, value| buffer.set(block, index, value))
            }
        })?;
    }
    Some(decoder.position())
}

fn render_plane(
    mut decoder: PlaneDecoder,
    coefficients: &CoefficientBuffer,
    (columns, rows): (usize, usize),
) -> Plane {
    for row in 0..rows {
        for column in 0..columns {
            coefficients.load(row * columns + column, decoder.transform());
            decoder.render_block(column, 0);
        }
        decoder.finish_block_rows(1);
    }
    decoder.finish()
}

#[cfg(test)]
mod tests;
