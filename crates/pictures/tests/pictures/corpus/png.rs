//! PNG files, chunk by chunk.

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::Write;

pub struct Png {
    bytes: Vec<u8>,
    row: usize,
    rows: usize,
}

impl Png {
    /// Eight bits, three colors.
    pub fn new(width: u32, height: u32) -> Png {
        Png::of(width, height, 8, 2)
    }

    pub fn of(width: u32, height: u32, depth: u8, color: u8) -> Png {
        Png::begun(width, height, depth, color, 0)
    }

    /// Rows in seven passes, each of which adds a byte for each of its rows.
    pub fn interlaced(width: u32, height: u32, depth: u8, color: u8) -> Vec<u8> {
        let passes = 7 * (height as usize + width as usize);
        Png::begun(width, height, depth, color, 1)
            .pixels_and(passes)
            .end()
    }

    fn begun(width: u32, height: u32, depth: u8, color: u8, interlace: u8) -> Png {
        let channels = match color {
            2 => 3,
            4 => 2,
            6 => 4,
            _ => 1,
        };
        let png = Png {
            bytes: b"\x89PNG\r\n\x1a\n".to_vec(),
            row: 1 + (width as usize * channels * usize::from(depth)).div_ceil(8),
            rows: height as usize,
        };
        let head = [
            &width.to_be_bytes()[..],
            &height.to_be_bytes(),
            &[depth, color, 0, 0, interlace],
        ]
        .concat();
        png.chunk(b"IHDR", &head)
    }

    pub fn chunk(mut self, kind: &[u8], data: &[u8]) -> Png {
        let mut crc = Crc::new();
        crc.update(kind);
        crc.update(data);
        self.bytes.extend((data.len() as u32).to_be_bytes());
        self.bytes.extend(kind);
        self.bytes.extend(data);
        self.bytes.extend(crc.sum().to_be_bytes());
        self
    }

    pub fn idat(self, data: &[u8]) -> Png {
        self.chunk(b"IDAT", data)
    }

    /// Rows of zeros, as many as were promised.
    pub fn pixels(self) -> Png {
        self.pixels_and(0)
    }

    /// The rows, and more that nobody asked for.
    pub fn pixels_and(self, more: usize) -> Png {
        let data = deflated(&[], self.row * self.rows + more);
        self.idat(&data)
    }

    /// A chunk with zeros that are compressed.
    pub fn compressed(self, kind: &[u8], head: &[u8], zeros: usize) -> Png {
        self.chunk(kind, &[head, &deflated(&[], zeros)].concat())
    }

    pub fn repeated(mut self, kind: &[u8], data: &[u8], count: usize) -> Png {
        for _ in 0..count {
            self = self.chunk(kind, data);
        }
        self
    }

    /// A chunk that says it is longer than the file.
    pub fn claim(mut self, kind: &[u8], length: u32) -> Png {
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(kind);
        self
    }

    pub fn end(self) -> Vec<u8> {
        self.chunk(b"IEND", &[]).bytes
    }
}

/// Data and then zeros, compressed.
pub fn deflated(data: &[u8], zeros: usize) -> Vec<u8> {
    static BLOCK: [u8; 1 << 16] = [0; 1 << 16];
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("memory takes all bytes");
    let mut left = zeros;
    while left > 0 {
        let part = left.min(BLOCK.len());
        encoder.write_all(&BLOCK[..part]).expect("memory takes all bytes");
        left -= part;
    }
    encoder.finish().expect("memory takes all bytes")
}
