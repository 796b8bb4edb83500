//! From the colors of a JPEG to those of a picture.

use super::frame::Frame;
use super::plane::Color;
use crate::shrink::Channels;
use image::DynamicImage;

/// How a JPEG writes colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Grey,
    Rgb,
    /// Brightness, and how blue and how red it is.
    YCbCr,
    /// Inks; where the flag is set, as much as is left of the light.
    Cmyk(bool),
    Ycck(bool),
}

impl Coding {
    /// What the number of components says, and the transform that an Adobe segment names.
    pub fn of(frame: &Frame, adobe: Option<u8>, has_jfif: bool) -> Coding {
        let ids: Vec<u8> = frame.components.iter().map(|component| component.id).collect();
        match (ids.len(), adobe) {
            (1, _) => Coding::Grey,
            (3, Some(0)) => Coding::Rgb,
            (3, None) if !has_jfif && ids == *b"RGB" => Coding::Rgb,
            (3, _) => Coding::YCbCr,
            (_, Some(2)) => Coding::Ycck(true),
            (_, adobe) => Coding::Cmyk(adobe.is_some()),
        }
    }

    /// The picture of these colors, whatever sizes they have.
    pub fn picture(self, colors: Vec<Color>, to: (u32, u32)) -> DynamicImage {
        if let (Coding::Grey, [_]) = (self, &colors[..]) {
            let grey = colors.into_iter().flat_map(|color| color.pixels).collect();
            return Channels::Grey.picture(to, grey);
        }
        let width = to.0 as usize;
        let mut pixels = vec![0; width * to.1 as usize * 3];
        let mut stretches: Vec<Stretch> = colors.iter().map(|color| Stretch::new(color, to)).collect();
        for (y, row) in (0..to.1).zip(pixels.chunks_exact_mut(width * 3)) {
            for stretch in &mut stretches {
                stretch.go_to(y);
            }
            let (row, _) = row.as_chunks_mut::<3>();
            match &stretches[..] {
                [one, two, three] => self.fill_three(row, [one.row(), two.row(), three.row()]),
                [one, two, three, four] => {
                    self.fill_four(row, [one.row(), two.row(), three.row()], four.row());
                }
                _ => {}
            }
        }
        Channels::Rgb.picture(to, pixels)
    }

    fn fill_three(self, row: &mut [[u8; 3]], [one, two, three]: [&[u8]; 3]) {
        let values = one.iter().zip(two).zip(three);
        for (pixel, ((one, two), three)) in row.iter_mut().zip(values) {
            *pixel = match self {
                Coding::YCbCr => rgb(*one, *two, *three),
                _ => [*one, *two, *three],
            };
        }
    }

    fn fill_four(self, row: &mut [[u8; 3]], colors: [&[u8]; 3], black: &[u8]) {
        self.fill_three(row, colors);
        let (is_ycck, is_light) = match self {
            Coding::Ycck(is_light) => (true, is_light),
            Coding::Cmyk(is_light) => (false, is_light),
            _ => return,
        };
        for (pixel, black) in row.iter_mut().zip(black) {
            let [one, two, three] = *pixel;
            let inks = if is_ycck { rgb(one, two, three) } else { *pixel };
            let light = |ink: u8| if is_light { ink } else { u8::MAX - ink };
            let black = u16::from(light(*black));
            *pixel = inks.map(|ink| ((u16::from(light(ink)) * black + 127) / 255) as u8);
        }
    }
}

/// ITU-T T.871, 7, in 65,536ths.
#[inline]
fn rgb(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    let (y, cb, cr) = (
        (i32::from(y) << 16) + (1 << 15),
        i32::from(cb) - 128,
        i32::from(cr) - 128,
    );
    let parts = [y + 91_881 * cr, y - 22_554 * cb - 46_802 * cr, y + 116_130 * cb];
    parts.map(|part| (part >> 16).clamp(0, 255) as u8)
}

/// The rows of a color in a size that may be larger than its own: colors are often sent in half the size.
struct Stretch<'a> {
    color: &'a Color,
    to: (u32, u32),
    /// For each pixel of a row: the two that it lies between, and how near it is to the second, in 256ths.
    across: Vec<(u32, u32, u16)>,
    y: u32,
    drawn: Vec<u8>,
}

impl<'a> Stretch<'a> {
    fn new(color: &'a Color, to: (u32, u32)) -> Stretch<'a> {
        let across = match color.size == to {
            true => Vec::new(),
            false => (0..to.0)
                .map(|x| between(x, color.extent.0, to.0, color.size.0))
                .collect(),
        };
        Stretch {
            color,
            to,
            drawn: vec![0; across.len()],
            across,
            y: 0,
        }
    }

    fn source(&self, y: u32) -> &'a [u8] {
        let width = self.color.size.0 as usize;
        &self.color.pixels[y as usize * width..][..width]
    }

    fn go_to(&mut self, y: u32) {
        self.y = y;
        if self.across.is_empty() {
            return;
        }
        let (upper, lower, near) = between(y, self.color.extent.1, self.to.1, self.color.size.1);
        let (upper, lower) = (self.source(upper), self.source(lower));
        let (near, near_upper) = (u32::from(near), 256 - u32::from(near));
        let mixed = |x: u32| u32::from(upper[x as usize]) * near_upper + u32::from(lower[x as usize]) * near;
        for (value, (left, right, near)) in self.drawn.iter_mut().zip(&self.across) {
            let near = u32::from(*near);
            *value = ((mixed(*left) * (256 - near) + mixed(*right) * near + (1 << 15)) >> 16) as u8;
        }
    }

    fn row(&self) -> &[u8] {
        match self.across.is_empty() {
            true => self.source(self.y),
            false => &self.drawn,
        }
    }
}

/// The two of few places that one of many lies between, and how near it is to the second. The many cover an extent of
/// the few, in 256ths.
fn between(at: u32, extent: u32, many: u32, few: u32) -> (u32, u32, u16) {
    let middle = u64::from(2 * at + 1) * u64::from(extent) / u64::from(2 * many);
    let place = middle.saturating_sub(128);
    let first = (place >> 8) as u32;
    (first.min(few - 1), (first + 1).min(few - 1), (place & 255) as u16)
}
