//! Which keys let a call through, and what is said to the others.

use crate::world::World;
use causeway::audit::Actor;
use causeway::keys::{KeyText, Kind, store};

const PATH: &str = "/v0.2/nonprofit/530196605";

on_both! {
    async fn a_call_without_a_key_is_told_to_add_one(world: &World) {
        for address in [PATH.to_owned(), format!("{PATH}?apiKey="), format!("{PATH}?apikey={}", world.client.key), format!("{PATH}?key=1")] {
            assert_eq!(world.client.get_plain(401, &address).await.code(), "missing_key", "{address}");
        }
    }

    async fn a_key_that_is_malformed_or_unknown_is_refused(world: &World) {
        let key = &world.client.key;
        let unknown = KeyText::generate(Kind::Public);
        let long = "x".repeat(5_000);
        for wrong in ["x", "cwpk_", &key[..40], &format!("{key}0"), &key.to_uppercase(), "%00", "%ff", "'%20or%201=1--", &long, unknown.expose()] {
            let answer = world.client.get_plain(401, &format!("{PATH}?apiKey={wrong}")).await;
            assert_eq!(answer.code(), "invalid_key", "{wrong}");
            assert!(wrong.len() < 5 || !answer.text().contains(wrong));
        }
    }

    async fn one_changed_character_makes_a_key_useless(world: &World) {
        for place in 0..world.client.key.len() {
            let mut letters = world.client.key.clone().into_bytes();
            letters[place] = if letters[place] == b'a' { b'b' } else { b'a' };
            let wrong = String::from_utf8(letters).unwrap();
            assert_eq!(world.client.with_key(&wrong).get(401, PATH).await.code(), "invalid_key", "{place}");
        }
    }

    async fn a_key_may_be_percent_encoded_and_stand_anywhere_in_the_query(world: &World) {
        world.load_demo().await;
        let key = world.client.key.replace("cwpk_", "%63wpk%5F");
        world.client.get_plain(200, &format!("{PATH}?take=1&apiKey={key}&unknown=%ff")).await;
    }

    async fn a_key_given_twice_is_refused(world: &World) {
        let key = &world.client.key;
        for address in [format!("{PATH}?apiKey={key}&apiKey={key}"), format!("{PATH}?apiKey={key}&a=1&api%4bey=x")] {
            assert_eq!(world.client.get_plain(400, &address).await.code(), "invalid_parameter");
        }
    }

    async fn a_revoked_key_works_until_the_next_look_at_the_store_and_never_again(world: &World) {
        world.load_demo().await;
        world.client.get(200, PATH).await;
        let now = world.app.clock.millis();
        assert!(store::revoke(&world.app.db, world.key_id, now).await.unwrap());
        world.app.keys.refresh().await.unwrap();
        assert_eq!(world.client.get(401, PATH).await.code(), "invalid_key");
        assert!(store::unblock(&world.app.db, world.key_id, Actor::Command, 0).await.unwrap());
        world.app.keys.refresh().await.unwrap();
        world.client.get(401, PATH).await;
        let (_, restarted) = world.restart().await;
        restarted.get(401, PATH).await;
    }

    async fn a_blocked_key_is_forbidden_until_it_is_unblocked(world: &World) {
        world.load_demo().await;
        world.client.get(200, PATH).await;
        assert!(store::block(&world.app.db, world.key_id, "too much", Actor::Command, 0).await.unwrap());
        world.app.keys.refresh().await.unwrap();
        assert_eq!(world.client.get(403, PATH).await.code(), "blocked_key");
        assert!(store::unblock(&world.app.db, world.key_id, Actor::Command, 0).await.unwrap());
        world.app.keys.refresh().await.unwrap();
        world.client.get(200, PATH).await;
    }

    async fn a_key_made_while_the_server_runs_works_at_once(world: &World) {
        world.load_demo().await;
        world.client.get(200, PATH).await;
        let (_, key) = world.make_key(Kind::Public).await;
        world.client.with_key(&key).get(200, PATH).await;
    }

    async fn a_private_key_in_an_address_is_refused_and_flagged(world: &World) {
        let (id, key) = world.make_key(Kind::Private).await;
        let answer = world.client.with_key(&key).get(401, PATH).await;
        assert_eq!(answer.code(), "private_key_exposed");
        let keys = store::list(&world.app.db, Some("ada")).await.unwrap();
        let exposed: Vec<_> = keys.iter().filter(|key| key.exposed_at.is_some()).map(|key| key.id).collect();
        assert_eq!(exposed, [id.0]);
        let first = keys.iter().find(|key| key.id == id.0).unwrap().exposed_at;
        world.app.clock.advance(std::time::Duration::from_mins(1));
        world.client.with_key(&key).get(401, PATH).await;
        let keys = store::list(&world.app.db, Some("ada")).await.unwrap();
        assert_eq!(keys.iter().find(|key| key.id == id.0).unwrap().exposed_at, first);
    }

    async fn a_private_key_is_nowhere_in_the_store(world: &World) {
        let (id, key) = world.make_key(Kind::Private).await;
        let keys = store::list(&world.app.db, None).await.unwrap();
        let stored = keys.iter().find(|key| key.id == id.0).unwrap();
        assert_eq!(stored.public_key, None);
        assert_eq!(stored.hash, KeyText::parse(&key).unwrap().hash());
        assert!(!format!("{keys:?}").contains(&key));
    }
}
