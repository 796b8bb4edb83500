//! Reads markers and their segments from SOI to EOI (ITU-T T.81, annex B).

const SOF0_BASELINE: u8 = 0xC0;
const SOF1_EXTENDED: u8 = 0xC1;
const SOF2_PROGRESSIVE: u8 = 0xC2;
const DHT: u8 = 0xC4;
const RST0: u8 = 0xD0;
const RST7: u8 = 0xD7;
const SOI: u8 = 0xD8;
const EOI: u8 = 0xD9;
const SOS: u8 = 0xDA;
const DQT: u8 = 0xDB;
const APP0: u8 = 0xE0;
const APP15: u8 = 0xEF;
const COMMENT: u8 = 0xFE;

/// The kind of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Frame {
        is_progressive: bool,
    },
    /// An arithmetic, lossless or hierarchical frame.
    UnsupportedFrame,
    /// Huffman or quantization tables.
    Tables,
    Scan,
    App(u8),
    Comment,
    Other,
    EndOfImage,
}

/// Reads the segments of a JPEG one by one.
pub(crate) struct SegmentReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> SegmentReader<'a> {
    /// Starts after the SOI marker with which every JPEG begins.
    pub(crate) fn new(bytes: &'a [u8]) -> SegmentReader<'a> {
        SegmentReader { bytes, position: 2 }
    }

    /// Returns the position after the last segment.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Reads the next segment; returns `None` if the file is truncated or damaged.
    pub(crate) fn next(&mut self) -> Option<(Marker, &'a [u8])> {
        if *self.bytes.get(self.position)? != 0xFF {
            return None;
        }
        // Any number of 0xFF bytes may precede a marker.
        while *self.bytes.get(self.position)? == 0xFF {
            self.position += 1;
        }
        let marker = Marker::from_byte(self.bytes[self.position])?;
        self.position += 1;
        if marker == Marker::EndOfImage {
            return Some((marker, &[]));
        }
        let length = self.bytes.get(self.position..)?.first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length));
        let segment = self.bytes.get(self.position + 2..self.position + length)?;
        self.position += length;
        Some((marker, segment))
    }

    /// Moves from the header of a scan to the marker that ends its entropy-coded data.
    pub(crate) fn skip_scan_data(&mut self) {
        while let Some(offset) = memchr::memchr(0xFF, self.bytes.get(self.position..).unwrap_or_default()) {
            let Some(0x00 | RST0..=RST7) = self.bytes.get(self.position + offset + 1) else {
                self.position += offset;
                return;
            };
            self.position += offset + 2;
        }
        self.position = self.bytes.len();
    }
}

impl Marker {
    /// Returns `None` for bytes that are not markers or have no segment.
    fn from_byte(byte: u8) -> Option<Marker> {
        Some(match byte {
            0..SOF0_BASELINE | RST0..=SOI => return None,
            SOF0_BASELINE | SOF1_EXTENDED => Marker::Frame {
                is_progressive: false,
            },
            SOF2_PROGRESSIVE => Marker::Frame { is_progressive: true },
            0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF | 0xDE | 0xDF => Marker::UnsupportedFrame,
            DHT | DQT => Marker::Tables,
            EOI => Marker::EndOfImage,
            SOS => Marker::Scan,
            APP0..=APP15 => Marker::App(byte - APP0),
            COMMENT => Marker::Comment,
            _ => Marker::Other,
        })
    }
}
