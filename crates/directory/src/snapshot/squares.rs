//! Squares on the map. Nonprofits in the same square share a label, by which a search finds those around a place.

use crate::nonprofits::position::Position;
use crate::nonprofits::zip_codes::{ZipCodes, ZipNumber};

/// The side of the squares of labels in degrees.
const SQUARE_DEGREES: f64 = 2.0;

/// Returns the label of the nonprofits in the same square as a ZIP code.
pub(crate) fn square_label(zip: ZipNumber) -> Option<String> {
    ZipCodes::get()
        .position(zip)
        .map(|position| label_of(square_of(position)))
}

/// Returns the row and the column of the square of a position.
pub(crate) fn square_of(position: Position) -> (i32, i32) {
    let index = |degrees: f64| (degrees / SQUARE_DEGREES).floor() as i32;
    (index(position.latitude()), index(position.longitude()))
}

/// Returns the label of a square.
pub(crate) fn label_of((row, column): (i32, i32)) -> String {
    format!("square:{row}:{column}")
}
