//! The SQL of the calls admitted in the last minute, which are saved so that a restart does not reset the limits.
//!
//! A running server saves its calls every ten seconds, after a burst within a second (see
//! [`saver`](crate::usage::saver)), and when it stops. A server that starts restores all calls of the last minute, its
//! own and those of other servers. After a restart the limits are exact to the second; after a crash, less than a quarter
//! of a limit and the calls of the last second may be lost. Between restarts, each server counts only its own calls.
//! With Redis, these counts matter only while it is away.

use super::call::{AddressId, Owner, WindowId};
use super::limiter::CallsPerSecond;
use super::{ADDRESS, Class};
use platform::db::{Db, Tx, query, run};
use platform::ids::{AccountId, KeyId};
use sqlx::QueryBuilder;
use std::net::{IpAddr, Ipv6Addr};
use uuid::{Uuid, Variant};

const ADD: &str = "insert into recent_calls (counted_id, class, second, calls) ";
const ADD_TO_EXISTING: &str =
    " on conflict (counted_id, class, second) do update set calls = recent_calls.calls + excluded.calls";
const SINCE: &str = "select counted_id, class, second, calls from recent_calls where second > $1";
const PRUNE: &str = "delete from recent_calls where second <= $1";

/// The maximum number of rows in one statement. SQLite takes up to 32,766 parameters.
const MAX_ROWS_PER_STATEMENT: usize = 8_000;

/// How long calls are stored, in seconds: one more than the window, because seconds are rounded up.
const RETENTION_SECONDS: i64 = super::WINDOW_SECONDS as i64 + 1;

/// Adds calls and removes old ones. The rows are sorted, so that two servers lock them in the same order.
pub async fn add(tx: &mut Tx, seconds: &CallsPerSecond, now: i64) -> sqlx::Result<()> {
    let row = |((window, second), calls): (&(WindowId, i64), &u32)| (columns(*window), *second, *calls);
    let mut rows: Vec<((Uuid, Option<Class>), i64, u32)> = seconds.iter().map(row).collect();
    rows.sort_unstable_by_key(|((id, class), second, _)| (*id, class.is_none(), *class, *second));
    for rows in rows.chunks(MAX_ROWS_PER_STATEMENT) {
        run!(&mut *tx, c => {
            let mut query = QueryBuilder::new(ADD);
            query.push_values(rows, |mut values, ((counted_id, class), second, calls)| {
                values
                    .push_bind(*counted_id)
                    .push_bind(class.map_or(ADDRESS, Class::name))
                    .push_bind(*second)
                    .push_bind(i64::from(*calls));
            });
            query.push(ADD_TO_EXISTING);
            // The number of rows differs each time, so it is not worth keeping the statement.
            query.build().persistent(false).execute(c).await.map(|_| ())
        })?;
    }
    tx.execute(query(PRUNE).bind(now / 1_000 - RETENTION_SECONDS))
        .await
        .map(|_| ())
}

/// Returns the ID and the class under which a window is stored. The window of an address has no class.
fn columns(window: WindowId) -> (Uuid, Option<Class>) {
    match window {
        WindowId::Class(owner, class) => (Uuid::from_bytes(owner.to_bytes()), Some(class)),
        WindowId::Address(AddressId(id)) => (Uuid::from_bytes(id), None),
    }
}

/// Returns the window that is stored under an ID and a class.
///
/// Only accounts have a limit for `create`. The IDs of keys have the variant of RFC 9562, and the bits of that variant are
/// zero in a network: in the first address of a /64 as in a mapped IPv4 address.
fn window(counted_id: Uuid, class: &str) -> Option<WindowId> {
    if class == ADDRESS {
        return Some(WindowId::Address(AddressId(counted_id.into_bytes())));
    }
    let class = Class::find(class)?;
    let owner = if class == Class::Create {
        Owner::Account(AccountId(counted_id))
    } else if counted_id.get_variant() == Variant::RFC4122 {
        Owner::Key(KeyId(counted_id))
    } else {
        let address = Ipv6Addr::from_octets(counted_id.into_bytes());
        Owner::Network(IpAddr::V6(address).to_canonical())
    };
    Some(WindowId::Class(owner, class))
}

/// Drops the calls that are too old to save.
pub(crate) fn drop_old(seconds: &mut CallsPerSecond, now: i64) {
    seconds.retain(|(_, second), _| *second > now / 1_000 - RETENTION_SECONDS);
}

/// Lists the calls of the last minute.
pub async fn list(db: &Db, now: i64) -> sqlx::Result<CallsPerSecond> {
    let since = now / 1_000 - RETENTION_SECONDS;
    let rows: Vec<(Uuid, String, i64, i64)> = db.fetch_all(query(SINCE).bind(since)).await?;
    let calls = rows.into_iter().filter_map(|(counted_id, class, second, calls)| {
        let window = window(counted_id, &class)?;
        Some(((window, second), u32::try_from(calls).ok()?))
    });
    Ok(calls.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_is_restored_as_it_was_saved() {
        let network = |address: &str| Owner::Network(address.parse().unwrap());
        let windows = [
            WindowId::Class(Owner::Account(AccountId::new()), Class::Create),
            WindowId::Class(Owner::Key(KeyId::new()), Class::Search),
            WindowId::Class(network("192.0.2.1"), Class::Details),
            WindowId::Class(network("255.255.255.255"), Class::Details),
            WindowId::Class(network("2001:db8:ffff:ffff::"), Class::Browse),
            WindowId::Address(AddressId([0xff; 16])),
        ];
        for saved in windows {
            let (id, class) = columns(saved);
            assert_eq!(window(id, class.map_or(ADDRESS, Class::name)), Some(saved));
        }
    }
}
