//! One nonprofit as bytes: compact, read in place, the same in the snapshot and in the overlay.
//!
//! Sixteen bytes of id, the name, then the other fields in a fixed order: numbers as variable-length integers of seven bits a byte,
//! texts with their length before them. A snapshot is checked by its checksums when it is opened, so reading here
//! only has to stay inside the bytes.

use crate::ids::NonprofitId;
use crate::nonprofits::Nonprofit;
use crate::nonprofits::causes::CauseSet;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::irs::IrsFacts;
use crate::nonprofits::ntee::Ntee;
use uuid::Uuid;

/// Appends a nonprofit to `out`.
pub fn write(nonprofit: &Nonprofit<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(nonprofit.id.0.as_bytes());
    text(out, nonprofit.name);
    number(out, nonprofit.ein.map_or(0, |ein| u128::from(ein.value()) + 1));
    number(out, u128::from(nonprofit.prominence));
    number(out, nonprofit.causes.bits());
    number(
        out,
        nonprofit
            .gone_at
            .map_or(0, |millis| u128::from(millis as u64) + 1),
    );
    for part in [
        nonprofit.slug,
        nonprofit.filed_name,
        nonprofit.chapter,
        nonprofit.aliases,
        nonprofit.city,
        nonprofit.state,
        nonprofit.zip,
        nonprofit.country,
    ] {
        text(out, part);
    }
    text(out, nonprofit.ntee.as_ref().map_or("", Ntee::code));
    for part in [
        nonprofit.own_description,
        nonprofit.description_long,
        nonprofit.website_url,
        nonprofit.logo,
        nonprofit.cover,
    ] {
        text(out, part.unwrap_or_default());
    }
    let Some(facts) = nonprofit.facts else {
        out.push(0);
        return;
    };
    out.push(1);
    for code in [
        facts.subsection,
        facts.deductibility,
        facts.foundation,
        facts.status,
        facts.affiliation,
    ] {
        out.push(code);
    }
    for code in [u32::from(facts.group), facts.ruling, facts.tax_period] {
        number(out, u128::from(code));
    }
    for amount in [facts.assets, facts.income, facts.revenue] {
        number(out, amount.map_or(0, |dollars| zigzag(dollars) + 1));
    }
}

/// A nonprofit as bytes of its own.
pub fn to_vec(nonprofit: &Nonprofit<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(nonprofit, &mut bytes);
    bytes
}

/// Reads a nonprofit back; nothing where the bytes are not one.
pub fn read(bytes: &[u8]) -> Option<Nonprofit<'_>> {
    let (id, rest) = bytes.split_first_chunk::<16>()?;
    let mut from = Reader(rest);
    let name = from.text()?;
    let ein = match from.number()? {
        0 => None,
        ein => Some(Ein::new((ein - 1) as u32)?),
    };
    let prominence = from.number()? as u32;
    let causes = CauseSet::from_bits(from.number()?);
    let gone_at = match from.number()? {
        0 => None,
        millis => Some((millis - 1) as u64 as i64),
    };
    Some(Nonprofit {
        id: NonprofitId(Uuid::from_bytes(*id)),
        ein,
        prominence,
        causes,
        gone_at,
        name,
        slug: from.text()?,
        filed_name: from.text()?,
        chapter: from.text()?,
        aliases: from.text()?,
        city: from.text()?,
        state: from.text()?,
        zip: from.text()?,
        country: from.text()?,
        ntee: Ntee::parse(from.text()?),
        own_description: from.told()?,
        description_long: from.told()?,
        website_url: from.told()?,
        logo: from.told()?,
        cover: from.told()?,
        facts: from.facts()?,
    })
}

/// Name and id of a record, by which equally prominent ones are ordered.
pub fn name_and_id(bytes: &[u8]) -> (&str, &[u8]) {
    let (id, rest) = bytes.split_at(16.min(bytes.len()));
    (Reader(rest).text().unwrap_or_default(), id)
}

fn number(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u128);
    out.extend_from_slice(text.as_bytes());
}

fn zigzag(value: i64) -> u128 {
    u128::from(((value << 1) ^ (value >> 63)) as u64)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u128> {
        let mut value = 0;
        for shift in (0..u128::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u128::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn told(&mut self) -> Option<Option<&'a str>> {
        Some(Some(self.text()?).filter(|text| !text.is_empty()))
    }

    fn amount(&mut self) -> Option<Option<i64>> {
        Some(match self.number()? {
            0 => None,
            value => {
                let value = (value - 1) as u64;
                Some((value >> 1) as i64 ^ -((value & 1) as i64))
            }
        })
    }

    fn facts(&mut self) -> Option<Option<IrsFacts>> {
        if self.byte()? == 0 {
            return Some(None);
        }
        Some(Some(IrsFacts {
            subsection: self.byte()?,
            deductibility: self.byte()?,
            foundation: self.byte()?,
            status: self.byte()?,
            affiliation: self.byte()?,
            group: self.number()? as u16,
            ruling: self.number()? as u32,
            tax_period: self.number()? as u32,
            assets: self.amount()?,
            income: self.amount()?,
            revenue: self.amount()?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts() -> impl Strategy<Value = Option<IrsFacts>> {
        let amount = || proptest::option::of(any::<i64>());
        proptest::option::of((
            any::<[u8; 5]>(),
            any::<u16>(),
            any::<[u32; 2]>(),
            amount(),
            amount(),
            amount(),
        ))
        .prop_map(|facts| {
            facts.map(|(codes, group, months, assets, income, revenue)| IrsFacts {
                subsection: codes[0],
                deductibility: codes[1],
                foundation: codes[2],
                status: codes[3],
                affiliation: codes[4],
                group,
                ruling: months[0],
                tax_period: months[1],
                assets,
                income,
                revenue,
            })
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            numbers in (any::<u128>(), 0u32..1_000_000_000, any::<u32>(), any::<u128>(), proptest::option::of(0i64..i64::MAX)),
            texts in proptest::collection::vec(".{0,40}", 14),
            ntee in proptest::option::of("[A-Z][0-9]{2}"),
            facts in facts(),
        ) {
            let told = |place: usize| Some(texts[place].as_str()).filter(|text| !text.is_empty());
            let nonprofit = Nonprofit {
                id: NonprofitId(Uuid::from_u128(numbers.0)),
                ein: Ein::new(numbers.1),
                prominence: numbers.2,
                causes: CauseSet::from_bits(numbers.3),
                gone_at: numbers.4,
                slug: &texts[0],
                name: &texts[1],
                filed_name: &texts[2],
                chapter: &texts[3],
                aliases: &texts[4],
                city: &texts[5],
                state: &texts[6],
                zip: &texts[7],
                country: &texts[8],
                ntee: ntee.as_deref().and_then(Ntee::parse),
                own_description: told(9),
                description_long: told(10),
                website_url: told(11),
                logo: told(12),
                cover: told(13),
                facts,
            };
            let mut bytes = Vec::new();
            write(&nonprofit, &mut bytes);
            prop_assert_eq!(read(&bytes), Some(nonprofit));
        }

        #[test]
        fn bytes_of_any_kind_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
