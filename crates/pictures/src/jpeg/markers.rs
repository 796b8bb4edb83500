//! Markers from SOI to EOI (ITU-T T.81, annex B), and the segments behind them.

const SOF_BASELINE: u8 = 0xC0;
const SOF_EXTENDED: u8 = 0xC1;
const SOF_PROGRESSIVE: u8 = 0xC2;
const RST_FIRST: u8 = 0xD0;
const RST_LAST: u8 = 0xD7;
const EOI: u8 = 0xD9;

/// What a segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    Frame {
        is_progressive: bool,
    },
    /// A kind that is arithmetic, lossless or hierarchical.
    OtherFrame,
    Codes,
    Factors,
    Restart,
    Scan,
    App(u8),
    Other,
}

/// The way from marker to marker.
pub struct Markers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Markers<'a> {
    /// Behind the SOI that every JPEG begins with.
    pub fn new(bytes: &'a [u8]) -> Markers<'a> {
        Markers { bytes, at: 2 }
    }

    /// Behind the last segment.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next segment, with nothing inside at the end of the picture, and nothing at all where it is cut off.
    pub fn next(&mut self) -> Option<Option<(Marker, &'a [u8])>> {
        if *self.bytes.get(self.at)? != 0xFF {
            return None;
        }
        // Bytes of 0xFF may be put before it.
        while *self.bytes.get(self.at)? == 0xFF {
            self.at += 1;
        }
        let marker = Marker::of(*self.bytes.get(self.at)?)?;
        self.at += 1;
        let Some(marker) = marker else {
            return Some(None);
        };
        let length = self.bytes.get(self.at..)?.first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length));
        let segment = self.bytes.get(self.at + 2..self.at + length)?;
        self.at += length;
        Some(Some((marker, segment)))
    }

    /// Moves behind the coded data of a scan, to the marker that ends it; `from` is a place within.
    pub fn go_behind_scan(&mut self, from: usize) {
        self.at = from;
        while let Some(found) = memchr::memchr(0xFF, self.bytes.get(self.at..).unwrap_or_default()) {
            let Some(0x00 | RST_FIRST..=RST_LAST) = self.bytes.get(self.at + found + 1) else {
                self.at += found;
                return;
            };
            self.at += found + 2;
        }
        self.at = self.bytes.len();
    }
}

impl Marker {
    /// Nothing inside for the end; nothing at all where it is no marker that stands before a segment.
    fn of(byte: u8) -> Option<Option<Marker>> {
        let marker = match byte {
            EOI => return Some(None),
            0..SOF_BASELINE | RST_FIRST..=0xD8 => return None,
            SOF_BASELINE | SOF_EXTENDED => Marker::Frame {
                is_progressive: false,
            },
            SOF_PROGRESSIVE => Marker::Frame { is_progressive: true },
            0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF | 0xDE | 0xDF => Marker::OtherFrame,
            0xC4 => Marker::Codes,
            0xDA => Marker::Scan,
            0xDB => Marker::Factors,
            0xDD => Marker::Restart,
            0xE0..=0xEF => Marker::App(byte - 0xE0),
            _ => Marker::Other,
        };
        Some(Some(marker))
    }
}
