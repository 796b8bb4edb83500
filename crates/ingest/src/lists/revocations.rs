//! The automatic revocation list: organizations that lost their exemption because they filed no return for three years.
//!
//! An organization may be listed several times: revoked, reinstated, and revoked again. The row with the newest revocation
//! counts, and the organization is revoked if that row has no reinstatement date.

use super::date::PackedDate;
use super::kind::ListKind;
use super::list::List;
use directory::nonprofits::lists::Revocation;

const EXEMPTION_TYPE: usize = 8;
const REVOKED_ON: usize = 9;
const POSTED_ON: usize = 10;
const REINSTATED_ON: usize = 11;

#[derive(Default)]
pub(super) struct Revocations;

/// A revocation. The order of the fields is the order by which the newest is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CompactRevocation {
    revoked_on: PackedDate,
    posted_on: PackedDate,
    reinstated_on: PackedDate,
    exemption_type: u8,
}

impl List for Revocations {
    const KIND: ListKind = ListKind::Revocations;
    type Compact = CompactRevocation;
    type Row = Revocation;

    fn read(&mut self, fields: &[&str]) -> Result<CompactRevocation, &'static str> {
        let revoked_on = PackedDate::parse_day_month(fields[REVOKED_ON])
            .filter(|date| !date.is_none())
            .ok_or("the revocation date is missing or invalid")?;
        let posted_on =
            PackedDate::parse_day_month(fields[POSTED_ON]).ok_or("the posting date is invalid")?;
        let reinstated_on =
            PackedDate::parse_day_month(fields[REINSTATED_ON]).ok_or("the reinstatement date is invalid")?;
        let exemption_type = match fields[EXEMPTION_TYPE] {
            "" => 0,
            digits if digits.len() <= 2 => digits.parse().map_err(|_| "the exemption type is invalid")?,
            _ => return Err("the exemption type is invalid"),
        };
        Ok(CompactRevocation {
            revoked_on,
            posted_on,
            reinstated_on,
            exemption_type,
        })
    }

    fn merge(&mut self, first: CompactRevocation, second: CompactRevocation) -> CompactRevocation {
        first.max(second)
    }

    fn row(&self, ein: u32, compact: &CompactRevocation, source: i64) -> Revocation {
        Revocation {
            ein: i64::from(ein),
            revoked_on: compact.revoked_on.text().unwrap_or_default(),
            posted_on: compact.posted_on.text(),
            reinstated_on: compact.reinstated_on.text(),
            exemption_type: i64::from(compact.exemption_type),
            source,
        }
    }

    fn history_fields(row: &Revocation) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("revokedOn", Some(row.revoked_on.clone())),
            ("reinstatedOn", row.reinstated_on.clone()),
        ]
    }
}
