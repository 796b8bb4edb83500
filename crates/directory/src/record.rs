//! One nonprofit as bytes: compact, read in place, the same in the snapshot and in the overlay.
//!
//! Sixteen bytes of id; the numbers, as variable-length integers of seven bits a byte; the lengths of the texts; then all texts in
//! one run, so that they are proved to be UTF-8 in one pass. A snapshot is checked by its checksums when it is opened, so reading
//! here only has to stay inside the bytes.

use crate::nonprofits::Nonprofit;
use crate::nonprofits::cause_set::CauseSet;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::irs::IrsFacts;
use crate::nonprofits::ntee::Ntee;
use platform::ids::NonprofitId;
use uuid::Uuid;

/// Appends a nonprofit to `out`.
pub fn write(nonprofit: &Nonprofit<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(nonprofit.id.0.as_bytes());
    let causes = nonprofit.causes.bits();
    let numbers: [u64; NUMBERS] = [
        nonprofit.ein.map_or(0, |ein| u64::from(ein.value()) + 1),
        u64::from(nonprofit.prominence),
        causes as u64,
        (causes >> 64) as u64,
        // A moment before 1970 would not come back; there is none.
        nonprofit
            .gone_at
            .map_or(0, |millis| (millis as u64).wrapping_add(1)),
    ];
    for value in numbers {
        number(out, value);
    }
    write_facts(nonprofit.facts.as_ref(), out);
    let texts = texts(nonprofit);
    for text in texts {
        number(out, text.len() as u64);
    }
    for text in texts {
        out.extend_from_slice(text.as_bytes());
    }
}

/// Numbers before the facts of the IRS.
const NUMBERS: usize = 5;
const TEXTS: usize = 15;

/// All texts in the order of the record; the name is first, since records are ordered by it.
fn texts<'a>(nonprofit: &'a Nonprofit<'_>) -> [&'a str; TEXTS] {
    [
        nonprofit.name,
        nonprofit.slug,
        nonprofit.legal_name,
        nonprofit.chapter,
        nonprofit.aliases,
        nonprofit.city,
        nonprofit.state,
        nonprofit.zip,
        nonprofit.country,
        nonprofit.ntee.as_ref().map_or("", Ntee::code),
        nonprofit.own_description.unwrap_or_default(),
        nonprofit.description_long.unwrap_or_default(),
        nonprofit.website_url.unwrap_or_default(),
        nonprofit.logo.unwrap_or_default(),
        nonprofit.cover.unwrap_or_default(),
    ]
}

fn write_facts(facts: Option<&IrsFacts>, out: &mut Vec<u8>) {
    let Some(facts) = facts else {
        out.push(0);
        return;
    };
    out.extend_from_slice(&[
        1,
        facts.subsection,
        facts.deductibility,
        facts.foundation,
        facts.status,
        facts.affiliation,
    ]);
    for code in [u32::from(facts.group), facts.ruling, facts.tax_period] {
        number(out, u64::from(code));
    }
    for amount in [facts.assets, facts.income, facts.revenue] {
        out.push(u8::from(amount.is_some()));
        if let Some(dollars) = amount {
            number(out, zigzag(dollars));
        }
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
    let ein = match from.number()? {
        0 => None,
        ein => Some(Ein::new((ein - 1) as u32)?),
    };
    let prominence = from.number()? as u32;
    let causes = u128::from(from.number()?) | u128::from(from.number()?) << 64;
    let gone_at = match from.number()? {
        0 => None,
        millis => Some((millis - 1) as i64),
    };
    let facts = from.facts()?;
    let mut texts = from.texts()?;
    Some(Nonprofit {
        id: NonprofitId(Uuid::from_bytes(*id)),
        ein,
        prominence,
        causes: CauseSet::from_bits(causes),
        gone_at,
        facts,
        name: texts.next()?,
        slug: texts.next()?,
        legal_name: texts.next()?,
        chapter: texts.next()?,
        aliases: texts.next()?,
        city: texts.next()?,
        state: texts.next()?,
        zip: texts.next()?,
        country: texts.next()?,
        ntee: Ntee::parse(texts.next()?),
        own_description: texts.told()?,
        description_long: texts.told()?,
        website_url: texts.told()?,
        logo: texts.told()?,
        cover: texts.told()?,
    })
}

/// The slug of a record, for whoever only compares it.
pub fn slug(bytes: &[u8]) -> Option<&[u8]> {
    let mut from = Reader(bytes.get(16..)?);
    for _ in 0..NUMBERS {
        from.number()?;
    }
    from.facts()?;
    let [name, slug, ..] = from.lengths()?;
    from.0.get(name..)?.get(..slug)
}

/// Name and id of a record, by which equally prominent ones are ordered.
pub fn name_and_id(bytes: &[u8]) -> (&str, &[u8]) {
    let name = read(bytes).map_or("", |nonprofit| nonprofit.name);
    (name, &bytes[..16.min(bytes.len())])
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn lengths(&mut self) -> Option<[usize; TEXTS]> {
        let mut lengths = [0; TEXTS];
        for length in &mut lengths {
            *length = self.number()? as usize;
        }
        Some(lengths)
    }

    fn texts(mut self) -> Option<Texts<'a>> {
        Some(Texts {
            lengths: self.lengths()?.into_iter(),
            rest: std::str::from_utf8(self.0).ok()?,
        })
    }

    fn amount(&mut self) -> Option<Option<i64>> {
        if self.byte()? == 0 {
            return Some(None);
        }
        let value = self.number()?;
        Some(Some((value >> 1) as i64 ^ -((value & 1) as i64)))
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

/// The texts of a record, one after the other.
struct Texts<'a> {
    lengths: std::array::IntoIter<usize, TEXTS>,
    rest: &'a str,
}

impl<'a> Texts<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (text, rest) = self.rest.split_at_checked(self.lengths.next()?)?;
        self.rest = rest;
        Some(text)
    }

    fn told(&mut self) -> Option<Option<&'a str>> {
        Some(Some(self.next()?).filter(|text| !text.is_empty()))
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
                legal_name: &texts[2],
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
            prop_assert_eq!(slug(&bytes), Some(nonprofit.slug.as_bytes()));
            prop_assert_eq!(read(&bytes), Some(nonprofit));
        }

        #[test]
        fn bytes_of_any_kind_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (read(&bytes), slug(&bytes));
        }
    }
}
