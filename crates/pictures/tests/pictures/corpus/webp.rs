//! WebP files, chunk by chunk. A lossless picture of one color takes no bits for its pixels.

/// A picture of one color.
pub fn flat(width: u32, height: u32, has_alpha: bool) -> Vec<u8> {
    file(&flat_chunk(width, height, has_alpha))
}

pub fn flat_chunk(width: u32, height: u32, has_alpha: bool) -> Vec<u8> {
    let head = (width - 1) | (height - 1) << 14 | u32::from(has_alpha) << 28;
    let mut data = vec![0x2F];
    data.extend(head.to_le_bytes());
    // No transforms, no cache, one group of codes; five codes of one symbol, each `1 0 0 0`.
    data.extend(0x8_8888_u32.to_le_bytes());
    chunk(b"VP8L", &data)
}

/// A lossy picture whose bits are all zero, which says that nothing changes anywhere.
pub fn lossy(width: u16, height: u16) -> Vec<u8> {
    file(&lossy_chunk(width, height))
}

fn lossy_chunk(width: u16, height: u16) -> Vec<u8> {
    let squares = usize::from(width).div_ceil(16) * usize::from(height).div_ceil(16);
    let modes = 1_000 + squares;
    // A key frame that is shown, and the length of its modes; coefficients follow.
    let tag = (0x10 | (modes as u32) << 5).to_le_bytes();
    let mut data = [&tag[..3], &[0x9D, 0x01, 0x2A]].concat();
    data.extend(width.to_le_bytes());
    data.extend(height.to_le_bytes());
    data.resize(data.len() + modes + 1_000 + squares * 4, 0);
    chunk(b"VP8 ", &data)
}

/// The same, with a plane of transparency that takes no bits for its pixels.
pub fn lossy_with_alpha(width: u16, height: u16) -> Vec<u8> {
    let alpha = [&[0x01][..], &0x8_8888_u32.to_le_bytes()].concat();
    let chunks = [chunk(b"ALPH", &alpha), lossy_chunk(width, height)].concat();
    in_canvas(u32::from(width), u32::from(height), &chunks)
}

/// A canvas around a lossy picture that claims another size.
pub fn lossy_in_canvas(width: u32, height: u32, inner_width: u16, inner_height: u16) -> Vec<u8> {
    let mut data = vec![0x10, 0, 0, 0x9D, 0x01, 0x2A];
    data.extend(inner_width.to_le_bytes());
    data.extend(inner_height.to_le_bytes());
    data.extend([0; 64]);
    in_canvas(width, height, &chunk(b"VP8 ", &data))
}

pub fn in_canvas(width: u32, height: u32, chunks: &[u8]) -> Vec<u8> {
    in_canvas_with(width, height, 0x10, chunks)
}

pub fn in_canvas_with(width: u32, height: u32, flags: u8, chunks: &[u8]) -> Vec<u8> {
    let mut head = vec![flags, 0, 0, 0];
    head.extend(&(width - 1).to_le_bytes()[..3]);
    head.extend(&(height - 1).to_le_bytes()[..3]);
    file(&[&chunk(b"VP8X", &head), chunks].concat())
}

pub fn animated() -> Vec<u8> {
    let frame = [
        &[0; 6][..],
        &[7, 0, 0, 7, 0, 0, 10, 0, 0, 0],
        &flat_chunk(8, 8, true),
    ]
    .concat();
    let chunks = [chunk(b"ANIM", &[0; 6]), chunk(b"ANMF", &frame).repeat(1_000)].concat();
    in_canvas_with(8, 8, 0x12, &chunks)
}

pub fn chunk(kind: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_vec();
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    bytes
}

pub fn file(chunks: &[u8]) -> Vec<u8> {
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((chunks.len() as u32 + 4).to_le_bytes());
    bytes.extend(b"WEBP");
    bytes.extend(chunks);
    bytes
}
