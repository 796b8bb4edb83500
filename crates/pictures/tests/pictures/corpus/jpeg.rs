//! Builds JPEG files segment by segment. Each block takes one or two bits, so that large pictures are short.

pub(crate) struct Jpeg {
    bytes: Vec<u8>,
    components: u8,
    blocks: usize,
    is_progressive: bool,
}

impl Jpeg {
    /// Starts a baseline picture with three components.
    pub(crate) fn new(width: u16, height: u16) -> Jpeg {
        Jpeg::with_components(width, height, 3, false)
    }

    /// Starts a progressive picture with three components.
    pub(crate) fn progressive(width: u16, height: u16) -> Jpeg {
        Jpeg::with_components(width, height, 3, true)
    }

    pub(crate) fn with_components(width: u16, height: u16, components: u8, is_progressive: bool) -> Jpeg {
        let mut jpeg = Jpeg::tables_only();
        jpeg.components = components;
        jpeg.is_progressive = is_progressive;
        jpeg.blocks = usize::from(width).div_ceil(8) * usize::from(height).div_ceil(8);
        jpeg.frame(width, height)
    }

    /// Starts a file with tables but without a frame. The only code means "no change" or "end of block".
    pub(crate) fn tables_only() -> Jpeg {
        let jpeg = Jpeg {
            bytes: vec![0xFF, 0xD8],
            components: 3,
            blocks: 0,
            is_progressive: false,
        };
        let quantization = [&[0][..], &[1; 64]].concat();
        jpeg.segment(0xDB, &quantization)
            .segment(0xC4, &huffman_table(0x00))
            .segment(0xC4, &huffman_table(0x10))
    }

    /// Adds a segment with `count` Huffman tables.
    pub(crate) fn tables(self, count: usize) -> Jpeg {
        self.segment(0xC4, &huffman_table(0x10).repeat(count))
    }

    /// Adds a segment of extended XMP data that claims to be the first of four gigabytes.
    pub(crate) fn extended_xmp(self) -> Jpeg {
        let namespace = b"http://ns.adobe.com/xmp/extension/\0";
        self.segment(0xE1, &[&namespace[..], &[b'0'; 32], &[0xFF; 4], &[0; 4]].concat())
    }

    pub(crate) fn segment(mut self, marker: u8, data: &[u8]) -> Jpeg {
        self.bytes.extend([0xFF, marker]);
        self.bytes.extend((data.len() as u16 + 2).to_be_bytes());
        self.bytes.extend(data);
        self
    }

    pub(crate) fn frame(self, width: u16, height: u16) -> Jpeg {
        let mut data = vec![8];
        data.extend(height.to_be_bytes());
        data.extend(width.to_be_bytes());
        data.push(self.components);
        for component in 1..=self.components {
            data.extend([component, 0x11, 0]);
        }
        let marker = if self.is_progressive { 0xC2 } else { 0xC0 };
        self.segment(marker, &data)
    }

    pub(crate) fn comments(mut self, count: usize) -> Jpeg {
        for _ in 0..count {
            self = self.segment(0xFE, &vec![b'x'; 65_533]);
        }
        self
    }

    /// Adds a scan of all blocks of the frame.
    pub(crate) fn scan(self) -> Jpeg {
        let bits = if self.is_progressive { 1 } else { 2 };
        let length = (self.blocks * usize::from(self.components) * bits).div_ceil(8);
        self.scan_with_length(length)
    }

    /// Adds a scan of all components with this many bytes.
    pub(crate) fn scan_with_length(self, length: usize) -> Jpeg {
        let mut header = vec![self.components];
        for component in 1..=self.components {
            header.extend([component, 0x00]);
        }
        let last = if self.is_progressive { 0 } else { 63 };
        header.extend([0, last, 0]);
        let mut jpeg = self.segment(0xDA, &header);
        jpeg.bytes.resize(jpeg.bytes.len() + length, 0);
        jpeg
    }

    /// Adds scans of the first component that change nothing.
    pub(crate) fn empty_scans(mut self, count: usize) -> Jpeg {
        let length = self.blocks.div_ceil(8).min((9 << 20) / count);
        for _ in 0..count {
            self = self.segment(0xDA, &[1, 1, 0x00, 1, 63, 0]);
            let end = self.bytes.len() + length;
            self.bytes.resize(end, 0);
        }
        self
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.extend([0xFF, 0xD9]);
        self.bytes
    }
}

/// A table whose only code has one bit and means 0.
fn huffman_table(class: u8) -> Vec<u8> {
    [&[class, 1][..], &[0; 15], &[0]].concat()
}
