//! Decoding JPEGs straight into the size that is kept, which takes a part of the time and of the memory that decoding
//! them whole would: a frequency that the size does without is neither kept nor transformed.

mod bits;
mod color;
pub mod frame;
mod gathered;
mod huffman;
pub mod markers;
mod plane;
mod scan;
mod tables;
mod transform;

use self::color::Coding;
use self::frame::{Frame, Scan};
use self::gathered::Gathered;
use self::markers::{Marker, Markers};
use self::plane::{Color, Plane};
use self::scan::Walk;
use self::tables::Tables;
use self::transform::Scale;
use super::error::PictureFault;
use image::DynamicImage;

/// The picture in a size that is not larger than its own.
pub fn decode(bytes: &[u8], to: (u32, u32)) -> Result<DynamicImage, PictureFault> {
    let mut decoding = Decoding {
        to,
        tables: Tables::default(),
        frame: None,
        adobe: None,
        has_jfif: false,
        state: State::Begun,
    };
    decoding.read(bytes).ok_or(PictureFault::Broken)
}

struct Decoding {
    to: (u32, u32),
    tables: Tables,
    frame: Option<Frame>,
    /// The transform that an Adobe segment names.
    adobe: Option<u8>,
    has_jfif: bool,
    state: State,
}

/// How far the picture has come.
enum State {
    Begun,
    /// Scans bring a part each. The factors of a component are those of its first scan.
    Gathering(Vec<(Gathered, Option<[u16; 64]>)>),
    Done(Vec<Color>),
}

impl Decoding {
    fn read(&mut self, bytes: &[u8]) -> Option<DynamicImage> {
        let mut markers = Markers::new(bytes);
        while let Some((marker, segment)) = markers.next()? {
            match marker {
                Marker::Factors => self.tables.take_factors(segment)?,
                Marker::Codes => self.tables.take_codes(segment)?,
                Marker::Restart => self.tables.take_restart(segment)?,
                Marker::Frame { is_progressive } if self.frame.is_none() => {
                    self.frame = Some(Frame::read(segment, is_progressive)?);
                }
                Marker::Frame { .. } | Marker::OtherFrame => return None,
                Marker::App(0) => self.has_jfif |= segment.starts_with(b"JFIF\0"),
                Marker::App(14) if segment.starts_with(b"Adobe") => self.adobe = segment.get(11).copied(),
                Marker::App(_) | Marker::Other => {}
                Marker::Scan => {
                    let at = self.scan(bytes, segment, markers.at())?;
                    markers.go_behind_scan(at);
                }
            }
        }
        self.finish()
    }

    /// Decodes a scan; returns where it ends.
    fn scan(&mut self, bytes: &[u8], segment: &[u8], at: usize) -> Option<usize> {
        let frame = self.frame.as_ref()?;
        let scan = Scan::read(segment, frame)?;
        let walk = Walk::new(frame, &scan, &self.tables, bytes, at);
        let is_whole = !frame.is_progressive && scan.parts.len() == frame.components.len();
        if is_whole {
            if !matches!(self.state, State::Begun) {
                return None;
            }
            let (colors, at) = whole(frame, &scan, &self.tables, walk, self.to)?;
            self.state = State::Done(colors);
            return Some(at);
        }
        if let State::Begun = self.state {
            let gathered = frame.components.iter().map(|component| {
                let scale = Scale::of(component.size, self.to);
                (Gathered::new(frame, component, scale), None)
            });
            self.state = State::Gathering(gathered.collect());
        }
        let State::Gathering(gathered) = &mut self.state else {
            return None;
        };
        for part in &scan.parts {
            let table = frame.components[part.component].table;
            let factors = &mut gathered[part.component].1;
            *factors = factors.or(*self.tables.factors.get(table)?);
        }
        gather(frame, &scan, walk, gathered)
    }

    fn finish(&mut self) -> Option<DynamicImage> {
        let frame = self.frame.take()?;
        let colors = match std::mem::replace(&mut self.state, State::Begun) {
            State::Begun => return None,
            State::Done(colors) => colors,
            State::Gathering(gathered) => {
                let components = frame.components.iter().zip(gathered);
                let colors = components.map(|(component, (gathered, factors))| {
                    let plane = Plane::new(&frame, component, &factors?, self.to);
                    Some(drawn(plane, &gathered, frame.blocks(component)))
                });
                colors.collect::<Option<Vec<Color>>>()?
            }
        };
        Some(Coding::of(&frame, self.adobe, self.has_jfif).picture(colors, self.to))
    }
}

/// A scan that has all: what is decoded is drawn at once.
fn whole(
    frame: &Frame,
    scan: &Scan,
    tables: &Tables,
    mut walk: Walk,
    to: (u32, u32),
) -> Option<(Vec<Color>, usize)> {
    let mut planes = Vec::new();
    for part in &scan.parts {
        let component = &frame.components[part.component];
        let factors = tables.factors.get(component.table)?.as_ref()?;
        planes.push(Plane::new(frame, component, factors, to));
    }
    for row in 0..walk.rows() {
        walk.row(row, |reading, block| {
            let plane = &mut planes[block.part];
            let transform = plane.transform();
            reading.all(transform.last_kept(), |place, value| transform.add(place, value))?;
            let above = row * frame.components[scan.parts[block.part].component].down as usize;
            plane.draw(block.across, block.down - above);
            Some(())
        })?;
        for (plane, part) in planes.iter_mut().zip(&scan.parts) {
            plane.end_rows(frame.components[part.component].down as usize);
        }
    }
    let mut colors: Vec<(usize, Color)> = planes
        .into_iter()
        .zip(&scan.parts)
        .map(|(plane, part)| (part.component, plane.finish()))
        .collect();
    colors.sort_by_key(|(component, _)| *component);
    Some((colors.into_iter().map(|(_, color)| color).collect(), walk.at()))
}

/// A scan that has a part: it is added to what is there.
fn gather(
    frame: &Frame,
    scan: &Scan,
    mut walk: Walk,
    gathered: &mut [(Gathered, Option<[u16; 64]>)],
) -> Option<usize> {
    for row in 0..walk.rows() {
        walk.row(row, |reading, block| {
            let (gathered, _) = &mut gathered[scan.parts[block.part].component];
            let index = gathered.index(block);
            match frame.is_progressive {
                true => reading.some(gathered, index),
                false => reading.all(63, |place, value| gathered.put(index, place, value)),
            }
        })?;
    }
    Some(walk.at())
}

fn drawn(mut plane: Plane, gathered: &Gathered, (across, down): (usize, usize)) -> Color {
    for row in 0..down {
        for column in 0..across {
            gathered.give(row * across + column, plane.transform());
            plane.draw(column, 0);
        }
        plane.end_rows(1);
    }
    plane.finish()
}

#[cfg(test)]
mod tests;
