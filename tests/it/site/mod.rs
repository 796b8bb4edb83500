//! The public site: finding, reading, giving.

mod giving;
mod reading;
