//! Usage of keys: counted by endpoint and status, summed over servers; hours are kept for 90 days, days for 13 months.

use crate::world::World;
use access::audit::Actor;
use access::keys::{Class, Kind, store};
use access::usage::store::{Unit, list_last_used, list_of_account, list_of_key, list_totals};
use access::usage::{Counts, HOUR_MILLIS, day_of, hour_of};
use causeway::dashboard::csv;
use platform::ids::KeyId;
use std::collections::BTreeMap;
use std::time::Duration;

on_both_databases!(
    calls_are_counted_by_endpoint_status_hour_and_day,
    counts_of_two_servers_are_summed_and_saved_once,
    hours_are_kept_for_90_days_and_days_for_13_months,
    exported_usage_contains_no_formulas,
);

const PATH: &str = "/v0.2/nonprofit/530196605";

fn counts(succeeded: u64, client_errors: u64, refused: u64) -> Counts {
    Counts {
        succeeded,
        client_errors,
        refused,
        server_errors: 0,
    }
}

async fn calls_are_counted_by_endpoint_status_hour_and_day(world: &World) {
    world.load_demo().await;
    let limits = [(Class::Details, 3)];
    store::set_limits(&world.app.db, world.key_id, &limits, Actor::Command, 0)
        .await
        .unwrap();
    world.app.access.keys.refresh().await.unwrap();
    // The story must not cross the end of an hour by itself.
    let now = world.app.clock.millis();
    let next_hour = u64::try_from(hour_of(now) + HOUR_MILLIS - now).unwrap();
    world.app.clock.advance(Duration::from_millis(next_hour));
    world.app.clock.stop();
    let first = hour_of(world.app.clock.millis());
    world.client.get(200, PATH).await;
    world.client.get(404, "/v0.2/nonprofit/nobody").await;
    world.client.get(200, PATH).await;
    world.client.get(429, PATH).await;
    world.client.get(200, "/v0.2/causes").await;
    world.client.get(200, "/v0.2/search/red").await;
    world.client.get(200, "/v0.2/search/red/cross").await;
    world.client.with_key("cwpk_x").get(401, PATH).await;
    world.app.clock.advance(Duration::from_hours(1));
    world.client.get(200, PATH).await;
    world.app.save_counts().await.unwrap();
    let hours = list_of_key(&world.app.db, world.key_id, Unit::Hour, first)
        .await
        .unwrap();
    let found: Vec<_> = hours
        .iter()
        .map(|hour| {
            (
                (hour.start - first) / HOUR_MILLIS,
                hour.endpoint.as_str(),
                hour.counts,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, "/v0.2/causes", counts(1, 0, 0)),
            (0, "/v0.2/nonprofit/{identifier}", counts(2, 1, 1)),
            (0, "/v0.2/search/{searchTerm}", counts(2, 0, 0)),
            (1, "/v0.2/nonprofit/{identifier}", counts(1, 0, 0)),
        ]
    );
    let days = list_of_key(&world.app.db, world.key_id, Unit::Day, day_of(first)).await;
    let days = days.unwrap();
    let mut total = Counts::default();
    for day in &days {
        assert_eq!(day.start, day_of(day.start));
        total.add(day.counts);
    }
    assert_eq!(total, counts(6, 1, 1));
    assert_eq!(
        list_of_key(&world.app.db, world.key_id, Unit::Hour, first + HOUR_MILLIS)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        list_of_account(&world.app.db, world.account, Unit::Hour, first)
            .await
            .unwrap(),
        hours
    );
    assert_eq!(
        list_of_key(&world.app.db, KeyId::new(), Unit::Hour, 0)
            .await
            .unwrap(),
        []
    );
}

async fn counts_of_two_servers_are_summed_and_saved_once(world: &World) {
    let start = world.app.clock.millis();
    world.load_demo().await;
    let (app, other) = world.restart().await;
    for _ in 0..3 {
        world.client.get(200, PATH).await;
        other.get(404, "/v0.2/nonprofit/nobody").await;
        world.app.save_counts().await.unwrap();
        app.save_counts().await.unwrap();
    }
    let (idle, key) = world.create_key(Kind::Public).await;
    assert!(key.starts_with("cwpk_"));
    for account in [Some(world.account), None] {
        let totals = list_totals(&world.app.db, account, 0).await.unwrap();
        assert_eq!(totals, [(world.key_id, 6)]);
        let used = list_last_used(&world.app.db, account).await.unwrap();
        assert_eq!(used.len(), 1);
        assert!(used[0].0 != idle && (start..=world.app.clock.millis()).contains(&used[0].1));
    }
    app.db.close().await;
}

async fn hours_are_kept_for_90_days_and_days_for_13_months(world: &World) {
    world.load_demo().await;
    world.client.get(200, PATH).await;
    world.app.save_counts().await.unwrap();
    let kept = async |unit| {
        world.app.save_counts().await.unwrap();
        let rows = list_of_key(&world.app.db, world.key_id, unit, 0).await;
        rows.unwrap().len()
    };
    for (hours, in_hours, in_days) in [
        (90 * 24 - 1, 1, 1),
        (2, 0, 1),
        (306 * 24 - 2, 0, 1),
        (3 * 24, 0, 0),
    ] {
        world.app.clock.advance(Duration::from_hours(hours));
        assert_eq!(
            (kept(Unit::Hour).await, kept(Unit::Day).await),
            (in_hours, in_days),
            "{hours}"
        );
    }
}

async fn exported_usage_contains_no_formulas(world: &World) {
    world.load_demo().await;
    world.client.get(200, PATH).await;
    world.app.save_counts().await.unwrap();
    let hours = list_of_account(&world.app.db, world.account, Unit::Hour, 0)
        .await
        .unwrap();
    let names = BTreeMap::from([(world.key_id.0, "=1+1".to_owned())]);
    let text = csv::export(&hours, &names);
    let [header, line] = text.lines().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(
        header,
        "hour,key_id,key_name,endpoint,succeeded,client_errors,refused,server_errors"
    );
    assert!(
        line.ends_with(&format!(
            ",{},\"'=1+1\",\"/v0.2/nonprofit/{{identifier}}\",1,0,0,0",
            world.key_id
        )),
        "{line}"
    );
}
