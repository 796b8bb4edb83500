//! The log of events and the list of donations.

use super::Partner;
use crate::api::fundraisers::{RED_CROSS, donate};
use crate::world::World;
use axum::http::Method;
use serde_json::{Value, json};
use std::time::Duration;

on_both_databases!(
    the_log_is_read_page_by_page,
    a_reader_waits_for_the_next_event,
    a_cursor_of_another_account_or_of_a_lost_event_is_410,
    imports_are_events_of_every_account,
    nothing_is_pruned_before_it_is_fanned_out,
    donations_are_listed_newest_first_for_their_account_alone,
);

async fn the_log_is_read_page_by_page(world: &World) {
    let partner = Partner::new(world).await;
    for title in ["One", "Two", "Three"] {
        partner.organizer.create_fundraiser(json!({"title": title})).await;
    }
    while partner.app.fan_out_events().await.unwrap() {}
    let mut titles = Vec::new();
    let mut query = "type=fundraiser.created&take=2".to_owned();
    loop {
        let page = partner.get(200, &format!("/v0.2/events?{query}")).await.json;
        for event in page["events"].as_array().unwrap() {
            titles.push(event["data"]["title"].as_str().unwrap().to_owned());
        }
        query = format!(
            "type=fundraiser.created&take=2&after={}",
            page["cursor"].as_str().unwrap()
        );
        if page["hasMore"] == false {
            break;
        }
    }
    assert_eq!(titles, ["One", "Two", "Three"]);
    let latest = partner.get(200, "/v0.2/events?after=latest").await.json;
    assert_eq!(
        (&latest["events"], &latest["hasMore"]),
        (&json!([]), &json!(false))
    );
    for bad in ["type=donation.lost", "take=0", "wait=x", "after=x", "after=zz"] {
        let refused = partner.get(400, &format!("/v0.2/events?{bad}")).await;
        assert_eq!(refused.code(), "invalid_parameter", "{bad}");
    }
    partner.app.db.close().await;
}

async fn a_reader_waits_for_the_next_event(world: &World) {
    let partner = Partner::new(world).await;
    let latest = partner.get(200, "/v0.2/events?after=latest").await.json;
    let path = format!(
        "/v0.2/events?wait=25&after={}",
        latest["cursor"].as_str().unwrap()
    );
    let write = async {
        partner.organizer.create_fundraiser(json!({})).await;
        while partner.app.fan_out_events().await.unwrap() {}
    };
    let (page, ()) = tokio::join!(partner.get(200, &path), write);
    assert_eq!(page.json["events"][0]["type"], "fundraiser.created");
    partner.app.db.close().await;
}

async fn a_cursor_of_another_account_or_of_a_lost_event_is_410(world: &World) {
    let partner = Partner::new(world).await;
    partner.organizer.create_fundraiser(json!({})).await;
    while partner.app.fan_out_events().await.unwrap() {}
    let page = partner.get(200, "/v0.2/events").await.json;
    let path = format!("/v0.2/events?after={}", page["cursor"].as_str().unwrap());
    partner.get(200, &path).await;
    let eve = partner.stranger().await;
    let refused = eve.write(410, &Method::GET, &path, "", &[]).await;
    assert_eq!(refused.code(), "cursor_expired");
    // A restored database gives the number to another event.
    world
        .execute("update events set id = 'evt_0' where kind = 'fundraiser.created'")
        .await;
    assert_eq!(partner.get(410, &path).await.code(), "cursor_expired");
    partner.app.db.close().await;
}

async fn imports_are_events_of_every_account(world: &World) {
    let partner = Partner::new(world).await;
    partner.organizer.create_fundraiser(json!({})).await;
    partner
        .create(
            "/hook",
            json!({"events": ["directory.updated", "nonprofit.updated"]}),
        )
        .await;
    while partner.app.fan_out_events().await.unwrap() {}
    let line = json!({"ein": RED_CROSS, "name": "Red Cross of Everywhere"});
    world.import_nonprofits(&line.to_string()).await.unwrap();
    partner.app.refresh_directory().await.unwrap();
    partner.deliver().await;
    let received = partner.receiver.take("/hook");
    let mut types: Vec<_> = received
        .iter()
        .map(|r| r.json()["type"].as_str().unwrap().to_owned())
        .collect();
    types.sort();
    assert_eq!(types, ["directory.updated", "nonprofit.updated"]);
    for received in received {
        let body = received.json();
        if body["type"] == "nonprofit.updated" {
            assert_eq!(body["data"]["name"], "Red Cross of Everywhere");
            assert_eq!(body["data"]["changed"], json!(["name", "slug"]));
        } else {
            let cursor = body["data"]["cursor"].as_str().unwrap();
            let changes = partner
                .get(200, &format!("/v0.2/changes?since={cursor}"))
                .await
                .json;
            assert_eq!(changes["changes"].as_array().unwrap().len(), 1, "{changes}");
        }
    }
    let eve = partner.stranger().await;
    let events = eve.write(200, &Method::GET, "/v0.2/events", "", &[]).await.json;
    let types: Vec<&Value> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["type"])
        .collect();
    assert!(
        !types.is_empty() && types.iter().all(|name| **name == "directory.updated"),
        "{types:?}"
    );
    partner.app.db.close().await;
}

async fn nothing_is_pruned_before_it_is_fanned_out(world: &World) {
    let partner = Partner::new(world).await;
    partner.organizer.create_fundraiser(json!({})).await;
    world.app.clock.advance(Duration::from_hours(41 * 24));
    let prune = async || {
        let settings = giving::ledger::outbox::OutboxSettings { keep_days: 30 };
        giving::ledger::outbox::prune(&world.app.db, settings, world.app.clock.millis())
            .await
            .unwrap()
    };
    assert_eq!(prune().await, 0);
    while partner.app.fan_out_events().await.unwrap() {}
    assert_eq!(prune().await, 1);
    let events = partner
        .get(200, "/v0.2/events?type=fundraiser.created")
        .await
        .json;
    assert_eq!(events["events"].as_array().unwrap().len(), 1);
    partner.app.db.close().await;
}

async fn donations_are_listed_newest_first_for_their_account_alone(world: &World) {
    let partner = Partner::new(world).await;
    let fundraiser = partner.organizer.create_fundraiser(json!({})).await;
    for cents in [100, 200, 300] {
        donate(world, &fundraiser, &format!("p-{cents}"), "ana", cents)
            .await
            .unwrap();
    }
    let first = partner.get(200, "/v0.2/donations?take=2").await.json;
    let amounts = |page: &Value| -> Vec<i64> {
        let donations = page["donations"].as_array().unwrap().iter();
        donations
            .map(|donation| donation["amount"].as_i64().unwrap())
            .collect()
    };
    assert_eq!(
        (amounts(&first), &first["hasMore"]),
        (vec![300, 200], &json!(true))
    );
    let last = first["donations"][1]["id"].as_str().unwrap();
    let rest = partner
        .get(200, &format!("/v0.2/donations?take=2&before={last}"))
        .await
        .json;
    assert_eq!((amounts(&rest), &rest["hasMore"]), (vec![100], &json!(false)));
    let eve = partner.stranger().await;
    let none = eve
        .write(200, &Method::GET, "/v0.2/donations", "", &[])
        .await
        .json;
    assert_eq!(none, json!({"donations": [], "hasMore": false}));
    for path in [
        format!("/v0.2/donation/{last}"),
        format!("/v0.2/donations?before={last}"),
    ] {
        let refused = eve.write(404, &Method::GET, &path, "", &[]).await;
        assert_eq!(refused.code(), "donation_not_found");
    }
    for id in ["1", "00000000-0000-0000-0000-000000000000"] {
        partner.get(404, &format!("/v0.2/donation/{id}")).await;
    }
    partner.app.db.close().await;
}
