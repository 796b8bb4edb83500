//! The binary record of a nonprofit, read in place from the snapshot and from the overlay.
//!
//! A record consists of the ID (16 bytes), numbers as variable-length integers with seven bits per byte, the lengths of the
//! texts, and all texts. The texts are contiguous so that one pass checks that they are UTF-8. Checksums are verified when
//! a snapshot is opened, so reading only has to stay within bounds.

use crate::nonprofits::Nonprofit;
use crate::nonprofits::cause_set::CauseSet;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::irs::IrsFacts;
use crate::nonprofits::ntee::Ntee;
use crate::nonprofits::tax_facts::{Day, Epostcard, LatestReturn, Publication78Codes, Revocation, TaxFacts};
use platform::ids::NonprofitId;
use uuid::Uuid;

/// Appends a nonprofit to `out`.
pub fn write(nonprofit: &Nonprofit<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(nonprofit.id.0.as_bytes());
    let causes = nonprofit.causes.bits();
    let numbers: [u64; NUMBER_COUNT] = [
        nonprofit.ein.map_or(0, |ein| u64::from(ein.value()) + 1),
        u64::from(nonprofit.prominence),
        causes as u64,
        (causes >> 64) as u64,
        // Times are never before 1970.
        nonprofit
            .gone_at
            .map_or(0, |millis| (millis as u64).wrapping_add(1)),
        u64::from(nonprofit.is_website_filed)
            | u64::from(nonprofit.has_consented) << 1
            | u64::from(nonprofit.is_closed) << 2,
    ];
    for value in numbers {
        write_number(out, value);
    }
    write_facts(nonprofit.facts.as_ref(), out);
    write_tax_facts(&nonprofit.tax, out);
    let texts = texts(nonprofit);
    for text in texts {
        write_number(out, text.len() as u64);
    }
    for text in texts {
        out.extend_from_slice(text.as_bytes());
    }
}

/// The number of integers before the IRS facts.
const NUMBER_COUNT: usize = 6;
const TEXT_COUNT: usize = 16;

/// Returns all texts in the order of the record. The name is first because records are sorted by it.
fn texts<'a>(nonprofit: &'a Nonprofit<'_>) -> [&'a str; TEXT_COUNT] {
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
        nonprofit.programs,
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
        write_number(out, u64::from(code));
    }
    for amount in [facts.assets, facts.income, facts.revenue] {
        write_amount(out, amount);
    }
}

fn write_amount(out: &mut Vec<u8>, amount: Option<i64>) {
    out.push(u8::from(amount.is_some()));
    if let Some(dollars) = amount {
        write_number(out, zigzag(dollars));
    }
}

// What is known of the tax facts; the parts follow in this order.
const HAS_RETURN: u8 = 1;
const IS_FINAL: u8 = 1 << 1;
const HAS_YEAR: u8 = 1 << 2;
const HAS_CODES: u8 = 1 << 3;
const HAS_REVOCATION: u8 = 1 << 4;
const HAS_EPOSTCARD: u8 = 1 << 5;
const HAS_SMALL_RECEIPTS: u8 = 1 << 6;
const IS_TERMINATED: u8 = 1 << 7;

fn write_tax_facts(tax: &TaxFacts, out: &mut Vec<u8>) {
    let (latest, epostcard) = (tax.latest_return, tax.epostcard);
    let flags = [
        (HAS_RETURN, latest.is_some()),
        (IS_FINAL, latest.is_some_and(|latest| latest.is_final)),
        (HAS_YEAR, tax.formed.is_some()),
        (HAS_CODES, !tax.publication_78.is_empty()),
        (HAS_REVOCATION, tax.revocation.is_some()),
        (HAS_EPOSTCARD, epostcard.is_some()),
        (
            HAS_SMALL_RECEIPTS,
            epostcard.is_some_and(|epostcard| epostcard.has_small_receipts),
        ),
        (
            IS_TERMINATED,
            epostcard.is_some_and(|epostcard| epostcard.is_terminated),
        ),
    ];
    let known = flags.into_iter().filter(|(_, applies)| *applies);
    out.push(known.fold(0, |set, (flag, _)| set | flag));
    if let Some(latest) = latest {
        write_number(out, u64::from(latest.period));
        out.push(u8::from(latest.is_private_foundation));
        for amount in [latest.revenue, latest.expenses, latest.assets] {
            write_amount(out, amount);
        }
    }
    if let Some(year) = tax.formed {
        write_number(out, u64::from(year));
    }
    if !tax.publication_78.is_empty() {
        write_number(out, u64::from(tax.publication_78.bits()));
    }
    if let Some(revocation) = tax.revocation {
        write_number(out, u64::from(revocation.revoked_on.number()));
        write_number(out, u64::from(revocation.reinstated_on.map_or(0, Day::number)));
    }
    if let Some(epostcard) = epostcard {
        write_number(out, u64::from(epostcard.tax_year));
    }
}

/// Returns the record of a nonprofit.
pub fn to_vec(nonprofit: &Nonprofit<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(nonprofit, &mut bytes);
    bytes
}

/// Reads a nonprofit. Returns `None` if the bytes are not a record.
pub fn read(bytes: &[u8]) -> Option<Nonprofit<'_>> {
    let (id, rest) = bytes.split_first_chunk::<16>()?;
    let mut from = Reader(rest);
    let ein = match from.number()? {
        0 => None,
        ein => Some(Ein::new((ein - 1) as u32)?),
    };
    let prominence = from.number()? as u32;
    let causes = from.causes()?;
    let gone_at = match from.number()? {
        0 => None,
        millis => Some((millis - 1) as i64),
    };
    let flags = from.number()?;
    let has_flag = |bit: u32| flags & 1 << bit != 0;
    let is_website_filed = has_flag(0);
    let facts = from.facts()?;
    let tax = from.tax_facts()?;
    let mut texts = from.texts()?;
    Some(Nonprofit {
        id: NonprofitId(Uuid::from_bytes(*id)),
        ein,
        prominence,
        is_held: false,
        causes,
        gone_at,
        facts,
        tax,
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
        own_description: texts.next_optional()?,
        description_long: texts.next_optional()?,
        website_url: texts.next_optional()?,
        is_website_filed,
        has_consented: has_flag(1),
        is_closed: has_flag(2),
        logo: texts.next_optional()?,
        cover: texts.next_optional()?,
        programs: texts.next()?,
    })
}

/// Reads only the causes of a record.
pub fn causes(bytes: &[u8]) -> Option<CauseSet> {
    let mut from = Reader(bytes.get(16..)?);
    let (_ein, _prominence) = (from.number()?, from.number()?);
    from.causes()
}

/// Reads only the slug of a record.
pub fn slug(bytes: &[u8]) -> Option<&[u8]> {
    let mut from = Reader(bytes.get(16..)?);
    for _ in 0..NUMBER_COUNT {
        from.number()?;
    }
    from.facts()?;
    from.tax_facts()?;
    let [name, slug, ..] = from.lengths()?;
    from.0.get(name..)?.get(..slug)
}

/// Reads the name and the ID of a record, which decide the order of equally prominent nonprofits.
pub(crate) fn name_and_id(bytes: &[u8]) -> (&str, &[u8]) {
    let name = read(bytes).map_or("", |nonprofit| nonprofit.name);
    (name, &bytes[..16.min(bytes.len())])
}

/// Appends a number with seven bits per byte.
pub(crate) fn write_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Reads numbers from the start of bytes.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// Returns the bytes that were not read.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
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

    fn causes(&mut self) -> Option<CauseSet> {
        let bits = u128::from(self.number()?) | u128::from(self.number()?) << 64;
        Some(CauseSet::from_bits(bits))
    }

    fn lengths(&mut self) -> Option<[usize; TEXT_COUNT]> {
        let mut lengths = [0; TEXT_COUNT];
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

impl Reader<'_> {
    fn tax_facts(&mut self) -> Option<TaxFacts> {
        let flags = self.byte()?;
        let has = |flag: u8| flags & flag != 0;
        let mut tax = TaxFacts::default();
        if has(HAS_RETURN) {
            tax.latest_return = Some(LatestReturn {
                period: self.number()? as u32,
                is_private_foundation: self.byte()? != 0,
                revenue: self.amount()?,
                expenses: self.amount()?,
                assets: self.amount()?,
                is_final: has(IS_FINAL),
            });
        }
        if has(HAS_YEAR) {
            tax.formed = Some(self.number()? as u16);
        }
        if has(HAS_CODES) {
            tax.publication_78 = Publication78Codes::from_bits(self.number()? as u16);
        }
        if has(HAS_REVOCATION) {
            let revoked_on = Day::from_number(self.number()? as u32)?;
            let reinstated_on = match self.number()? {
                0 => None,
                number => Some(Day::from_number(number as u32)?),
            };
            tax.revocation = Some(Revocation {
                revoked_on,
                reinstated_on,
            });
        }
        if has(HAS_EPOSTCARD) {
            tax.epostcard = Some(Epostcard {
                tax_year: self.number()? as u16,
                has_small_receipts: has(HAS_SMALL_RECEIPTS),
                is_terminated: has(IS_TERMINATED),
            });
        }
        Some(tax)
    }
}

/// Iterates over the texts of a record.
struct Texts<'a> {
    lengths: std::array::IntoIter<usize, TEXT_COUNT>,
    rest: &'a str,
}

impl<'a> Texts<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (text, rest) = self.rest.split_at_checked(self.lengths.next()?)?;
        self.rest = rest;
        Some(text)
    }

    fn next_optional(&mut self) -> Option<Option<&'a str>> {
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

    fn tax_facts() -> impl Strategy<Value = TaxFacts> {
        let amount = || proptest::option::of(any::<i64>());
        let day = || {
            (1900u32..2100, 1u32..=12, 1u32..=28)
                .prop_map(|(year, month, day)| year * 10_000 + month * 100 + day)
        };
        let latest_return = (any::<u32>(), amount(), amount(), amount(), any::<[bool; 2]>()).prop_map(
            |(period, revenue, expenses, assets, [is_final, is_private_foundation])| LatestReturn {
                period,
                revenue,
                expenses,
                assets,
                is_final,
                is_private_foundation,
            },
        );
        let revocation =
            (day(), proptest::option::of(day())).prop_map(|(revoked_on, reinstated_on)| Revocation {
                revoked_on: Day::from_number(revoked_on).unwrap(),
                reinstated_on: reinstated_on.and_then(Day::from_number),
            });
        let epostcard =
            any::<(u16, bool, bool)>().prop_map(|(tax_year, has_small_receipts, is_terminated)| Epostcard {
                tax_year,
                has_small_receipts,
                is_terminated,
            });
        (
            proptest::option::of(latest_return),
            any::<Option<u16>>(),
            any::<u16>().prop_map(Publication78Codes::from_bits),
            proptest::option::of(revocation),
            proptest::option::of(epostcard),
        )
            .prop_map(
                |(latest_return, formed, publication_78, revocation, epostcard)| TaxFacts {
                    latest_return,
                    formed,
                    publication_78,
                    revocation,
                    epostcard,
                },
            )
    }

    proptest! {
        #[test]
        fn a_record_is_read_as_it_was_written(
            numbers in (any::<u128>(), 0u32..1_000_000_000, any::<u32>(), any::<u128>(), proptest::option::of(0i64..i64::MAX)),
            texts in proptest::collection::vec(".{0,40}", 15),
            ntee in proptest::option::of("[A-Z][0-9]{2}"),
            facts in facts(),
            tax in tax_facts(),
            is_website_filed in any::<bool>(),
            (has_consented, is_closed) in any::<(bool, bool)>(),
        ) {
            let optional = |index: usize| Some(texts[index].as_str()).filter(|text| !text.is_empty());
            let nonprofit = Nonprofit {
                id: NonprofitId(Uuid::from_u128(numbers.0)),
                ein: Ein::new(numbers.1),
                prominence: numbers.2,
                causes: CauseSet::from_bits(numbers.3),
                is_held: false,
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
                own_description: optional(9),
                description_long: optional(10),
                website_url: optional(11),
                is_website_filed,
                has_consented,
                is_closed,
                logo: optional(12),
                cover: optional(13),
                programs: &texts[14],
                facts,
                tax,
            };
            let mut bytes = Vec::new();
            write(&nonprofit, &mut bytes);
            prop_assert_eq!(slug(&bytes), Some(nonprofit.slug.as_bytes()));
            prop_assert_eq!(read(&bytes), Some(nonprofit));
            // A record that was cut off is read as nothing or as what is left of it, but never beyond its end.
            for length in 0..bytes.len() {
                let _ = (read(&bytes[..length]), slug(&bytes[..length]));
            }
        }

        #[test]
        fn reading_arbitrary_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (read(&bytes), slug(&bytes));
        }
    }
}
