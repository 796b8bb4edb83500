//! Builds PNG files chunk by chunk.

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::Write;

pub(crate) struct Png {
    bytes: Vec<u8>,
    row_length: usize,
    row_count: usize,
}

impl Png {
    /// Starts a picture with eight bits and three colors.
    pub(crate) fn new(width: u32, height: u32) -> Png {
        Png::with_color(width, height, 8, 2)
    }

    pub(crate) fn with_color(width: u32, height: u32, depth: u8, color: u8) -> Png {
        Png::with_interlacing(width, height, depth, color, 0)
    }

    /// Builds a complete interlaced picture. Each of the seven passes adds a byte to each of its rows.
    pub(crate) fn interlaced(width: u32, height: u32, depth: u8, color: u8) -> Vec<u8> {
        let filter_bytes = 7 * (height as usize + width as usize);
        Png::with_interlacing(width, height, depth, color, 1)
            .pixels_and_zeros(filter_bytes)
            .finish()
    }

    fn with_interlacing(width: u32, height: u32, depth: u8, color: u8, interlace: u8) -> Png {
        let channels = match color {
            2 => 3,
            4 => 2,
            6 => 4,
            _ => 1,
        };
        let png = Png {
            bytes: b"\x89PNG\r\n\x1a\n".to_vec(),
            row_length: 1 + (width as usize * channels * usize::from(depth)).div_ceil(8),
            row_count: height as usize,
        };
        let header = [
            &width.to_be_bytes()[..],
            &height.to_be_bytes(),
            &[depth, color, 0, 0, interlace],
        ]
        .concat();
        png.chunk(b"IHDR", &header)
    }

    pub(crate) fn chunk(mut self, kind: &[u8], data: &[u8]) -> Png {
        let mut crc = Crc::new();
        crc.update(kind);
        crc.update(data);
        self.bytes.extend((data.len() as u32).to_be_bytes());
        self.bytes.extend(kind);
        self.bytes.extend(data);
        self.bytes.extend(crc.sum().to_be_bytes());
        self
    }

    pub(crate) fn idat(self, data: &[u8]) -> Png {
        self.chunk(b"IDAT", data)
    }

    /// Adds rows of zeros for all pixels.
    pub(crate) fn pixels(self) -> Png {
        self.pixels_and_zeros(0)
    }

    /// Adds rows of zeros for all pixels and more zeros after them.
    pub(crate) fn pixels_and_zeros(self, extra: usize) -> Png {
        let data = compress(&[], self.row_length * self.row_count + extra);
        self.idat(&data)
    }

    /// Adds a chunk with compressed zeros.
    pub(crate) fn compressed_chunk(self, kind: &[u8], prefix: &[u8], zeros: usize) -> Png {
        self.chunk(kind, &[prefix, &compress(&[], zeros)].concat())
    }

    pub(crate) fn repeated_chunk(mut self, kind: &[u8], data: &[u8], count: usize) -> Png {
        for _ in 0..count {
            self = self.chunk(kind, data);
        }
        self
    }

    /// Adds the header of a chunk without its data.
    pub(crate) fn chunk_header(mut self, kind: &[u8], length: u32) -> Png {
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(kind);
        self
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.chunk(b"IEND", &[]).bytes
    }
}

/// Compresses data followed by zeros.
pub(crate) fn compress(data: &[u8], zeros: usize) -> Vec<u8> {
    static BLOCK: [u8; 1 << 16] = [0; 1 << 16];
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("writing to memory cannot fail");
    let mut remaining = zeros;
    while remaining > 0 {
        let part = remaining.min(BLOCK.len());
        encoder
            .write_all(&BLOCK[..part])
            .expect("writing to memory cannot fail");
        remaining -= part;
    }
    encoder.finish().expect("writing to memory cannot fail")
}
