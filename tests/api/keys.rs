//! Which keys are accepted, and how the others are refused.

use crate::wait::eventually;
use crate::world::World;
use access::audit::{self, Actor};
use access::keys::store::RotateOutcome;
use access::keys::{Class, KeyText, Kind, Overlap, State, store};
use platform::ids::KeyId;
use std::time::Duration;

on_both_databases!(
    a_call_without_a_key_is_refused_with_missing_key,
    a_malformed_or_unknown_key_is_refused,
    a_key_with_one_changed_character_is_refused,
    a_key_may_be_percent_encoded_and_anywhere_in_the_query,
    a_key_given_twice_is_refused,
    a_revoked_key_never_works_again,
    a_blocked_key_is_forbidden_until_it_is_unblocked,
    a_key_created_while_the_server_runs_works_immediately,
    a_private_key_in_a_url_is_refused_and_flagged,
    a_private_key_is_only_stored_as_a_hash,
    whitespace_and_case_are_significant_in_a_key,
    a_rotated_key_expires_without_a_refresh_from_the_database,
    a_key_rotated_without_overlap_stops_immediately,
    an_inactive_key_cannot_be_rotated,
    the_owner_of_an_exposed_key_is_queued_for_one_email,
    operator_actions_are_recorded_in_the_audit_log,
);

const PATH: &str = "/v0.2/nonprofit/530196605";

async fn a_call_without_a_key_is_refused_with_missing_key(world: &World) {
    for url in [
        PATH.to_owned(),
        format!("{PATH}?apiKey="),
        format!("{PATH}?apikey={}", world.client.key),
        format!("{PATH}?key=1"),
    ] {
        assert_eq!(
            world.client.get_plain(401, &url).await.code(),
            "missing_key",
            "{url}"
        );
    }
}

async fn a_malformed_or_unknown_key_is_refused(world: &World) {
    let key = &world.client.key;
    let unknown = KeyText::generate(Kind::Public);
    let long = "x".repeat(5_000);
    for wrong in [
        "x",
        "cwpk_",
        &key[..40],
        &format!("{key}0"),
        &key.to_uppercase(),
        "%00",
        "%ff",
        "'%20or%201=1--",
        &long,
        unknown.expose(),
    ] {
        let response = world
            .client
            .get_plain(401, &format!("{PATH}?apiKey={wrong}"))
            .await;
        assert_eq!(response.code(), "invalid_key", "{wrong}");
        assert!(wrong.len() < 5 || !response.text().contains(wrong));
    }
}

async fn a_key_with_one_changed_character_is_refused(world: &World) {
    for index in 0..world.client.key.len() {
        let mut letters = world.client.key.clone().into_bytes();
        letters[index] = if letters[index] == b'a' { b'b' } else { b'a' };
        let wrong = String::from_utf8(letters).unwrap();
        assert_eq!(
            world.client.with_key(&wrong).get(401, PATH).await.code(),
            "invalid_key",
            "{index}"
        );
    }
}

async fn a_key_may_be_percent_encoded_and_anywhere_in_the_query(world: &World) {
    world.load_demo().await;
    let key = world.client.key.replace("cwpk_", "%63wpk%5F");
    world
        .client
        .get_plain(200, &format!("{PATH}?take=1&apiKey={key}&unknown=%ff"))
        .await;
}

async fn a_key_given_twice_is_refused(world: &World) {
    let key = &world.client.key;
    for url in [
        format!("{PATH}?apiKey={key}&apiKey={key}"),
        format!("{PATH}?apiKey={key}&a=1&api%4bey=x"),
    ] {
        assert_eq!(
            world.client.get_plain(400, &url).await.code(),
            "invalid_parameter"
        );
    }
}

async fn a_revoked_key_never_works_again(world: &World) {
    world.load_demo().await;
    world.client.get(200, PATH).await;
    let now = world.app.clock.millis();
    assert!(store::revoke(&world.app.db, world.key_id, now).await.unwrap());
    world.app.access.keys.refresh().await.unwrap();
    assert_eq!(world.client.get(401, PATH).await.code(), "invalid_key");
    assert!(
        store::unblock(&world.app.db, world.key_id, Actor::Command, 0)
            .await
            .unwrap()
    );
    world.app.access.keys.refresh().await.unwrap();
    world.client.get(401, PATH).await;
    let (_, restarted) = world.restart().await;
    restarted.get(401, PATH).await;
}

async fn a_blocked_key_is_forbidden_until_it_is_unblocked(world: &World) {
    world.load_demo().await;
    world.client.get(200, PATH).await;
    assert!(
        store::block(&world.app.db, world.key_id, "too much", Actor::Command, 0)
            .await
            .unwrap()
    );
    world.app.access.keys.refresh().await.unwrap();
    assert_eq!(world.client.get(403, PATH).await.code(), "blocked_key");
    assert!(
        store::unblock(&world.app.db, world.key_id, Actor::Command, 0)
            .await
            .unwrap()
    );
    world.app.access.keys.refresh().await.unwrap();
    world.client.get(200, PATH).await;
}

async fn a_key_created_while_the_server_runs_works_immediately(world: &World) {
    world.load_demo().await;
    world.client.get(200, PATH).await;
    let (_, key) = world.create_key(Kind::Public).await;
    world.client.with_key(&key).get(200, PATH).await;
}

async fn a_private_key_in_a_url_is_refused_and_flagged(world: &World) {
    let (id, key) = world.create_key(Kind::Private).await;
    let response = world.client.with_key(&key).get(401, PATH).await;
    assert_eq!(response.code(), "private_key_exposed");
    // A response waits only for a short time until the key is flagged.
    let keys = eventually("a key is flagged", async || {
        let keys = store::list(&world.app.db, Some("ada")).await.unwrap();
        keys.iter().any(|key| key.exposed_at.is_some()).then_some(keys)
    })
    .await;
    let exposed: Vec<_> = keys
        .iter()
        .filter(|key| key.exposed_at.is_some())
        .map(|key| key.id)
        .collect();
    assert_eq!(exposed, [id.0]);
    let first = keys.iter().find(|key| key.id == id.0).unwrap().exposed_at;
    world.app.clock.advance(std::time::Duration::from_mins(1));
    world.client.with_key(&key).get(401, PATH).await;
    let keys = store::list(&world.app.db, Some("ada")).await.unwrap();
    assert_eq!(keys.iter().find(|key| key.id == id.0).unwrap().exposed_at, first);
}

async fn a_private_key_is_only_stored_as_a_hash(world: &World) {
    let (id, key) = world.create_key(Kind::Private).await;
    let keys = store::list(&world.app.db, None).await.unwrap();
    let stored = keys.iter().find(|key| key.id == id.0).unwrap();
    assert_eq!(stored.public_key, None);
    assert_eq!(stored.hash, KeyText::parse(&key).unwrap().hash());
    assert!(!format!("{keys:?}").contains(&key));
}

async fn whitespace_and_case_are_significant_in_a_key(world: &World) {
    let key = &world.client.key;
    let swapped: String = key
        .chars()
        .map(|c| {
            if c.is_ascii_lowercase() {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect();
    for wrong in [
        format!("%20{key}"),
        format!("{key}%20"),
        format!("+{key}"),
        format!("{key}%0a"),
        format!("{}%20{}", &key[..20], &key[20..]),
        swapped,
        key.to_lowercase(),
    ] {
        assert_eq!(
            world.client.with_key(&wrong).get(401, PATH).await.code(),
            "invalid_key",
            "{wrong}"
        );
    }
}

async fn a_rotated_key_expires_without_a_refresh_from_the_database(world: &World) {
    world.load_demo().await;
    let now = world.app.clock.millis();
    store::set_limits(
        &world.app.db,
        world.key_id,
        &[(Class::Details, 7)],
        Actor::Command,
        now,
    )
    .await
    .unwrap();
    let text = KeyText::generate(Kind::Public);
    let rotation = store::rotate(&world.app.db, world.key_id, &text, Overlap::Day, None, now)
        .await
        .unwrap();
    let RotateOutcome::Rotated(new) = rotation else {
        panic!("{rotation:?}")
    };
    world.app.access.keys.refresh().await.unwrap();
    let successor = world.client.with_key(text.expose());
    world.client.get(200, PATH).await;
    assert_eq!(
        successor.get(200, PATH).await.header("ratelimit-policy"),
        "\"details\";q=7;w=60"
    );
    let stored = store::find(&world.app.db, new).await.unwrap().unwrap();
    assert_eq!(
        (stored.name.as_str(), stored.account_id),
        ("test", world.account.0)
    );
    world.app.clock.advance(Duration::from_mins(24 * 60 - 1));
    world.client.get(200, PATH).await;
    world.app.clock.advance(Duration::from_mins(1));
    assert_eq!(world.client.get(401, PATH).await.code(), "invalid_key");
    successor.get(200, PATH).await;
    let (app, restarted) = world.restart().await;
    app.clock.advance(Duration::from_hours(24));
    restarted.get(401, PATH).await;
    app.db.close().await;
}

async fn a_key_rotated_without_overlap_stops_immediately(world: &World) {
    world.load_demo().await;
    let text = KeyText::generate(Kind::Public);
    let now = world.app.clock.millis();
    store::rotate(&world.app.db, world.key_id, &text, Overlap::None, None, now)
        .await
        .unwrap();
    world.app.access.keys.refresh().await.unwrap();
    world.client.get(401, PATH).await;
    world.client.with_key(text.expose()).get(200, PATH).await;
}

async fn an_inactive_key_cannot_be_rotated(world: &World) {
    let now = world.app.clock.millis();
    let text = KeyText::generate(Kind::Public);
    let rotate = async |id, text: &KeyText| {
        store::rotate(&world.app.db, id, text, Overlap::Day, None, now)
            .await
            .unwrap()
    };
    assert_eq!(rotate(KeyId::new(), &text).await, RotateOutcome::NoSuchKey);
    assert_eq!(
        rotate(world.key_id, &KeyText::generate(Kind::Private)).await,
        RotateOutcome::NoSuchKey
    );
    let (id, _) = world.create_key(Kind::Public).await;
    assert!(matches!(
        rotate(id, &KeyText::generate(Kind::Public)).await,
        RotateOutcome::Rotated(_)
    ));
    assert_eq!(
        rotate(id, &text).await,
        RotateOutcome::NotActive(State::Active),
        "a key is rotated once"
    );
    store::block(&world.app.db, world.key_id, "abuse", Actor::Command, now)
        .await
        .unwrap();
    assert_eq!(
        rotate(world.key_id, &text).await,
        RotateOutcome::NotActive(State::Blocked)
    );
    store::revoke(&world.app.db, world.key_id, now).await.unwrap();
    assert_eq!(
        rotate(world.key_id, &text).await,
        RotateOutcome::NotActive(State::Revoked)
    );
    assert_eq!(store::list(&world.app.db, None).await.unwrap().len(), 3);
}

async fn the_owner_of_an_exposed_key_is_queued_for_one_email(world: &World) {
    let (db, text) = (&world.app.db, KeyText::generate(Kind::Private));
    let id = store::insert(db, world.account, "server", &text, 1)
        .await
        .unwrap();
    assert!(store::list_exposed_unmailed(db).await.unwrap().is_empty());
    for is_new in [true, false] {
        assert_eq!(store::expose(db, text.hash(), 2).await.unwrap(), is_new);
        let waiting = store::list_exposed_unmailed(db).await.unwrap();
        assert_eq!(waiting.iter().map(|key| key.id).collect::<Vec<_>>(), [id.0]);
    }
    for (now, is_first) in [(5, true), (6, false)] {
        let mut tx = db.write().await.unwrap();
        assert_eq!(store::mark_mailed(&mut tx, id, now).await.unwrap(), is_first);
        tx.commit().await.unwrap();
    }
    assert!(!store::expose(db, text.hash(), 7).await.unwrap());
    assert!(store::list_exposed_unmailed(db).await.unwrap().is_empty());
    let stored = store::find(&world.app.db, id).await.unwrap().unwrap();
    assert_eq!(stored.exposed_mailed_at, Some(5));
}

async fn operator_actions_are_recorded_in_the_audit_log(world: &World) {
    let (db, id) = (&world.app.db, world.key_id);
    let operator = Actor::Account(world.account);
    store::block(db, id, "copied everything", operator, 1)
        .await
        .unwrap();
    assert_eq!(
        store::find(db, id)
            .await
            .unwrap()
            .unwrap()
            .block_reason
            .as_deref(),
        Some("copied everything")
    );
    store::unblock(db, id, Actor::Command, 2).await.unwrap();
    assert_eq!(store::find(db, id).await.unwrap().unwrap().block_reason, None);
    store::set_limits(db, id, &[(Class::Search, 9), (Class::Create, 0)], operator, 3)
        .await
        .unwrap();
    store::revoke_for(db, id, Actor::Command, 4).await.unwrap();
    assert!(
        !store::block(db, KeyId::new(), "nobody", operator, 5)
            .await
            .unwrap()
    );
    let list = audit::store::list(db, None, 10).await.unwrap();
    let entries: Vec<_> = list
        .iter()
        .map(|entry| {
            (
                entry.at,
                entry.name.as_str(),
                entry.detail.as_str(),
                entry.username.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        entries,
        [
            (4, "key revoke", "", None),
            (3, "limit set", "search=9 create=0", Some("ada")),
            (2, "key unblock", "", None),
            (1, "key block", "copied everything", Some("ada")),
        ]
    );
    assert!(list.iter().all(|entry| entry.subject == id.to_string()));
    let rest = audit::store::list(db, Some(list[1].id), 1).await.unwrap();
    assert_eq!(rest, [list[2].clone()]);
}
