//! Builds WebP files chunk by chunk.

/// Builds a lossless picture of a single color, whose pixels take no bits.
pub(crate) fn single_color(width: u32, height: u32, has_alpha: bool) -> Vec<u8> {
    file(&single_color_chunk(width, height, has_alpha))
}

pub(crate) fn single_color_chunk(width: u32, height: u32, has_alpha: bool) -> Vec<u8> {
    let header = (width - 1) | (height - 1) << 14 | u32::from(has_alpha) << 28;
    let mut data = vec![0x2F];
    data.extend(header.to_le_bytes());
    // No transforms, no color cache, one group of five codes with a single symbol each, written as `1 0 0 0`.
    data.extend(0x8_8888_u32.to_le_bytes());
    chunk(b"VP8L", &data)
}

/// Builds a lossy picture whose bits are all zero, which leaves every block unchanged.
pub(crate) fn lossy(width: u16, height: u16) -> Vec<u8> {
    file(&lossy_chunk(width, height))
}

fn lossy_chunk(width: u16, height: u16) -> Vec<u8> {
    let macroblocks = usize::from(width).div_ceil(16) * usize::from(height).div_ceil(16);
    let modes_length = 1_000 + macroblocks;
    // A visible key frame and the length of its first partition, which holds the modes. The coefficients follow.
    let tag = (0x10 | (modes_length as u32) << 5).to_le_bytes();
    let mut data = [&tag[..3], &[0x9D, 0x01, 0x2A]].concat();
    data.extend(width.to_le_bytes());
    data.extend(height.to_le_bytes());
    data.resize(data.len() + modes_length + 1_000 + macroblocks * 4, 0);
    chunk(b"VP8 ", &data)
}

/// Builds the same with an alpha plane whose pixels take no bits.
pub(crate) fn lossy_with_alpha(width: u16, height: u16) -> Vec<u8> {
    let alpha = [&[0x01][..], &0x8_8888_u32.to_le_bytes()].concat();
    let chunks = [chunk(b"ALPH", &alpha), lossy_chunk(width, height)].concat();
    with_canvas(u32::from(width), u32::from(height), &chunks)
}

/// Builds a lossy picture of `length` random bytes, which are noise, whose pixels are all half transparent.
pub(crate) fn half_transparent_noise(width: u16, height: u16, length: usize) -> Vec<u8> {
    const OPACITY: u32 = 128;
    let mut picture = lossy_chunk(width, height);
    let macroblocks = usize::from(width).div_ceil(16) * usize::from(height).div_ceil(16);
    // The coarsest quantizer, 127, as the boolean encoder of RFC 6386 writes it after the 16 bits of the fields before it.
    picture[8 + 10 + 2] = 0xFE;
    // After the head of the chunk, the head of the frame, and the modes.
    let (mut state, coefficients) = (1_u64, 8 + 10 + 1_000 + macroblocks);
    picture.resize(length.max(picture.len()).next_multiple_of(2), 0);
    let size = picture.len() as u32 - 8;
    picture[4..8].copy_from_slice(&size.to_le_bytes());
    for byte in &mut picture[coefficients..] {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *byte = (state >> 56) as u8;
    }
    // One group of five codes with a single symbol each. That of the first one has eight bits.
    let codes = 1 << 3 | 1 << 5 | OPACITY << 6 | 1 << 14 | 1 << 18 | 1 << 22 | 1 << 26;
    let alpha = [&[0x01][..], &u32::to_le_bytes(codes)].concat();
    let chunks = [chunk(b"ALPH", &alpha), picture].concat();
    with_canvas(u32::from(width), u32::from(height), &chunks)
}

/// Builds a canvas around a lossy picture that claims another size.
pub(crate) fn lossy_with_canvas(width: u32, height: u32, inner_width: u16, inner_height: u16) -> Vec<u8> {
    let mut data = vec![0x10, 0, 0, 0x9D, 0x01, 0x2A];
    data.extend(inner_width.to_le_bytes());
    data.extend(inner_height.to_le_bytes());
    data.extend([0; 64]);
    with_canvas(width, height, &chunk(b"VP8 ", &data))
}

pub(crate) fn with_canvas(width: u32, height: u32, chunks: &[u8]) -> Vec<u8> {
    with_canvas_flags(width, height, 0x10, chunks)
}

pub(crate) fn with_canvas_flags(width: u32, height: u32, flags: u8, chunks: &[u8]) -> Vec<u8> {
    let mut header = vec![flags, 0, 0, 0];
    header.extend(&(width - 1).to_le_bytes()[..3]);
    header.extend(&(height - 1).to_le_bytes()[..3]);
    file(&[&chunk(b"VP8X", &header), chunks].concat())
}

pub(crate) fn animated() -> Vec<u8> {
    let frame = [
        &[0; 6][..],
        &[7, 0, 0, 7, 0, 0, 10, 0, 0, 0],
        &single_color_chunk(8, 8, true),
    ]
    .concat();
    let chunks = [chunk(b"ANIM", &[0; 6]), chunk(b"ANMF", &frame).repeat(1_000)].concat();
    with_canvas_flags(8, 8, 0x12, &chunks)
}

pub(crate) fn chunk(kind: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_vec();
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    bytes
}

pub(crate) fn file(chunks: &[u8]) -> Vec<u8> {
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((chunks.len() as u32 + 4).to_le_bytes());
    bytes.extend(b"WEBP");
    bytes.extend(chunks);
    bytes
}
