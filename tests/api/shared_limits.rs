//! Rate limits of several servers that share Redis: they hold for all of them together.

use crate::client::{Client, Response};
use crate::redis_server::{RedisServer, free_port};
use crate::wait::eventually;
use crate::world::World;
use access::audit::Actor;
use access::keys::store::AddressChange;
use access::keys::{Class, Kind, store};
use causeway::app::App;
use causeway::server::sharing::unshared_settings;
use futures_util::future::join_all;
use std::time::{Duration, Instant};

on_both_databases!(
    of_900_concurrent_calls_500_succeed_on_any_number_of_servers,
    an_address_limit_holds_for_all_servers_together,
    a_new_limit_applies_although_a_refusal_is_remembered,
);

const PATH: &str = "/v0.2/nonprofit/530196605";
/// Within this time, no call leaves the window. A slow machine tries again with another key.
const MAX_DURATION: Duration = Duration::from_secs(50);

fn parameter(response: &Response, name: &str, parameter: &str) -> u32 {
    let items = response.header("ratelimit").split(", ");
    let mut found = items.filter_map(|item| item.strip_prefix(&format!("\"{name}\";")));
    let fields = found.next().unwrap().split(';');
    let mut values = fields.filter_map(|field| field.strip_prefix(parameter)?.strip_prefix('='));
    values.next().unwrap().parse().unwrap()
}

async fn close(apps: &[App]) {
    for app in apps {
        app.db.close().await;
    }
}

/// Creates a key, and a client with it for each app.
async fn clients(world: &World, apps: &[App]) -> Vec<Client> {
    let (_, key) = world.create_key(Kind::Public).await;
    apps.iter().map(|app| Client::new(app, &key)).collect()
}

/// Sends calls round robin, eight at a time, and returns the responses with their status. Returns `None` if that took so
/// long that calls may have left the window.
async fn send(clients: &[Client], path: &str, calls: usize) -> Option<Vec<(u16, Response)>> {
    let start = Instant::now();
    let sent = (0..8).map(|task| async move {
        let mut responses = Vec::new();
        for call in (task..calls).step_by(8) {
            responses.push(clients[call % clients.len()].get_any(path).await);
        }
        responses
    });
    let responses = join_all(sent).await.into_iter().flatten().collect();
    (start.elapsed() < MAX_DURATION).then_some(responses)
}

fn statuses(responses: &[(u16, Response)], status: u16) -> usize {
    responses.iter().filter(|(found, _)| *found == status).count()
}

async fn of_900_concurrent_calls_500_succeed_on_any_number_of_servers(world: &World) {
    world.load_demo().await;
    let redis = crate::world::redis_url();
    let apps = [
        world.sharing_server(&redis).await,
        world.sharing_server(&redis).await,
        world.sharing_server(&redis).await,
    ];
    for servers in 1..=3 {
        let responses = eventually("900 calls are fast enough", async || {
            let clients = clients(world, &apps[..servers]).await;
            send(&clients, "/v0.2/search/red?take=1", 900).await
        })
        .await;
        let (mut left, mut refused) = (Vec::new(), 0);
        for (status, response) in &responses {
            assert_eq!(response.header("ratelimit-policy"), "\"search\";q=500;w=60");
            let seconds = parameter(response, "search", "t");
            assert!((1..=60).contains(&seconds), "{seconds}");
            match status {
                200 => left.push(parameter(response, "search", "r")),
                429 => {
                    refused += 1;
                    assert_eq!(parameter(response, "search", "r"), 0);
                    assert_eq!(response.header("retry-after"), seconds.to_string());
                }
                _ => panic!("{status}"),
            }
        }
        left.sort_unstable();
        assert!(left.iter().copied().eq(0..500), "{servers} servers: {left:?}");
        assert_eq!(refused, 400);
    }
    let metrics = apps[0].telemetry.metrics.render();
    assert!(metrics.contains("causeway_redis_up 1"), "{metrics}");
    assert!(
        metrics.contains("causeway_local_limit_decisions_total 0"),
        "{metrics}"
    );
    assert!(!world.app.telemetry.metrics.render().contains("causeway_redis_up"));
    close(&apps).await;
}

async fn set_limits(
    world: &World,
    apps: &[App],
    key: platform::ids::KeyId,
    details: u32,
    address: Option<u32>,
) {
    let address = address.map_or(AddressChange::Keep, AddressChange::Set);
    let limits = [(Class::Details, details)];
    let is_found =
        store::set_limits_and_address(&world.app.db, key, &limits, address, Actor::Command, 0).await;
    assert!(is_found.unwrap());
    for app in apps {
        app.access.keys.refresh().await.unwrap();
    }
}

async fn an_address_limit_holds_for_all_servers_together(world: &World) {
    world.load_demo().await;
    let redis = crate::world::redis_url();
    let apps = [
        world.sharing_server(&redis).await,
        world.sharing_server(&redis).await,
    ];
    eventually("the calls are fast enough", async || {
        let start = Instant::now();
        let (id, key) = world.create_key(Kind::Public).await;
        set_limits(world, &apps, id, 50, Some(30)).await;
        let at = |host: u8| {
            apps.each_ref()
                .map(|app| Client::new(app, &key).at([192, 0, 2, host]))
        };
        let greedy = send(&at(1), PATH, 60).await?;
        let modest = send(&at(2), PATH, 60).await?;
        if start.elapsed() > MAX_DURATION {
            return None;
        }
        // The address is refused after 30 calls. Its refused calls do not count for the key, which has 20 left.
        assert_eq!((statuses(&greedy, 200), statuses(&greedy, 429)), (30, 30));
        assert_eq!((statuses(&modest, 200), statuses(&modest, 429)), (20, 40));
        for (_, response) in greedy.iter().filter(|(status, _)| *status == 429) {
            assert_eq!(parameter(response, "address", "r"), 0);
            let wait = parameter(response, "address", "t").to_string();
            assert_eq!(response.header("retry-after"), wait);
        }
        for (_, response) in modest.iter().filter(|(status, _)| *status == 429) {
            assert_eq!(parameter(response, "details", "r"), 0);
            assert!(parameter(response, "address", "r") >= 10);
        }
        Some(())
    })
    .await;
    close(&apps).await;
}

async fn a_new_limit_applies_although_a_refusal_is_remembered(world: &World) {
    world.load_demo().await;
    let redis = crate::world::redis_url();
    let apps = [
        world.sharing_server(&redis).await,
        world.sharing_server(&redis).await,
    ];
    eventually("the calls are fast enough", async || {
        let start = Instant::now();
        let (id, key) = world.create_key(Kind::Public).await;
        let clients = apps.each_ref().map(|app| Client::new(app, &key));
        let mut admitted = Vec::new();
        for limit in [10, 25, 5, 30] {
            set_limits(world, &apps, id, limit, None).await;
            admitted.push(statuses(&send(&clients, PATH, 40).await?, 200));
        }
        (start.elapsed() < MAX_DURATION).then(|| assert_eq!(admitted, [10, 15, 0, 5]))
    })
    .await;
    close(&apps).await;
}

/// The number of scripts that Redis was asked to run.
fn scripts(redis: &RedisServer) -> u64 {
    let stats = redis.command("INFO commandstats");
    let line = stats
        .lines()
        .find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
}

/// Runs a story with PostgreSQL and a Redis of its own.
fn with_redis(arguments: &[&str], story: impl AsyncFnOnce(&World, &mut RedisServer)) {
    let mut redis = RedisServer::start(arguments);
    crate::world::run_story(crate::world::Database::Postgres, async |world: &World| {
        world.load_demo().await;
        story(world, &mut redis).await;
    });
}

#[test]
fn a_flood_of_refused_calls_does_not_reach_redis() {
    with_redis(&[], async |world, redis| {
        let apps = [world.sharing_server(&redis.url()).await];
        eventually("the calls are fast enough", async || {
            let clients = clients(world, &apps).await;
            let before = scripts(redis);
            let responses = send(&clients, PATH, 1_000).await?;
            assert_eq!(statuses(&responses, 200), 100);
            // Eight calls are sent at a time. The first eight may all find that Redis does not know the script yet, and
            // the last eight may all be on their way when the first one is refused.
            let asked = scripts(redis) - before;
            assert!((101..=116).contains(&asked), "{asked} scripts for 1,000 calls");
            Some(())
        })
        .await;
        close(&apps).await;
    });
}

#[test]
fn calls_that_redis_has_lost_still_count() {
    with_redis(&[], async |world, redis| {
        let apps = [
            world.sharing_server(&redis.url()).await,
            world.sharing_server(&redis.url()).await,
        ];
        eventually("the calls are fast enough", async || {
            let start = Instant::now();
            let clients = clients(world, &apps).await;
            assert_eq!(statuses(&send(&clients[..1], PATH, 60).await?, 200), 60);
            redis.command("FLUSHALL");
            redis.command("SCRIPT FLUSH");
            let responses = send(&clients[..1], PATH, 60).await?;
            if start.elapsed() > MAX_DURATION {
                return None;
            }
            // While Redis may lack calls, those in flight count as calls of the other server too.
            let admitted = statuses(&responses, 200);
            assert!(
                (33..=40).contains(&admitted),
                "the first server knows its calls: {admitted}"
            );
            let others = send(&clients[1..], PATH, 60).await?;
            assert!(
                statuses(&others, 200) + admitted <= 40,
                "the second server asks Redis, which knows them again"
            );
            Some(())
        })
        .await;
        eventually("the calls are fast enough", async || {
            let start = Instant::now();
            let clients = clients(world, &apps).await;
            assert_eq!(statuses(&send(&clients, PATH, 80).await?, 200), 80);
            redis.command("FLUSHALL");
            let responses = send(&clients, PATH, 80).await?;
            if start.elapsed() > MAX_DURATION {
                return None;
            }
            let admitted = statuses(&responses, 200);
            assert!(
                (4..=20).contains(&admitted),
                "each server has counted 40: {admitted}"
            );
            Some(())
        })
        .await;
        close(&apps).await;
    });
}

#[test]
fn a_server_that_starts_without_redis_uses_it_as_soon_as_it_responds() {
    with_redis(&[], async |world, redis| {
        redis.kill();
        let apps = [
            world.sharing_server(&redis.url()).await,
            world.sharing_server(&redis.url()).await,
        ];
        eventually("the calls are fast enough", async || {
            let clients = clients(world, &apps).await;
            let responses = send(&clients, PATH, 300).await?;
            assert_eq!(statuses(&responses, 200), 200, "each server admits 100 by itself");
            Some(())
        })
        .await;
        let metrics = apps[0].telemetry.metrics.render();
        assert!(metrics.contains("causeway_redis_up 0"), "{metrics}");
        assert!(
            !metrics.contains("causeway_local_limit_decisions_total 0"),
            "{metrics}"
        );
        redis.resume();
        eventually("both servers use Redis", async || {
            let is_up = |app: &App| app.redis.as_ref().is_some_and(platform::redis::Redis::is_up);
            apps.iter().all(is_up).then_some(())
        })
        .await;
        eventually("the calls are fast enough", async || {
            let clients = clients(world, &apps).await;
            let responses = send(&clients, PATH, 300).await?;
            assert_eq!(statuses(&responses, 200), 100);
            Some(())
        })
        .await;
        close(&apps).await;
    });
}

#[test]
fn a_frozen_redis_delays_only_the_calls_that_are_waiting_for_it() {
    with_redis(&[], async |world, redis| {
        let mut config = world.app.config.clone();
        config.redis.url = Some(redis.url().into());
        let app = App::build(config).await.unwrap();
        let client = clients(world, std::slice::from_ref(&app)).await.remove(0);
        let is_up = || app.redis.as_ref().unwrap().is_up();
        client.get(200, PATH).await;
        redis.freeze();
        eventually("a call is decided without Redis", async || {
            client.get(200, PATH).await;
            (!is_up()).then_some(())
        })
        .await;
        // From now on, no call asks Redis.
        let decisions = |metrics: String| -> u64 {
            let line = metrics
                .lines()
                .find_map(|line| line.strip_prefix("causeway_local_limit_decisions_total "));
            line.unwrap().parse().unwrap()
        };
        let before = decisions(app.telemetry.metrics.render());
        for _ in 0..20 {
            client.get(200, PATH).await;
        }
        assert_eq!(decisions(app.telemetry.metrics.render()), before + 20);
        redis.thaw();
        eventually("Redis is used again", async || is_up().then_some(())).await;
        client.get(200, PATH).await;
        close(&[app]).await;
    });
}

#[test]
fn servers_share_a_limit_while_redis_is_frozen() {
    with_redis(&[], async |world, redis| {
        let mut config = world.app.config.clone();
        config.redis.url = Some(redis.url().into());
        let apps = [
            App::build(config.clone()).await.unwrap(),
            App::build(config).await.unwrap(),
        ];
        for app in &apps {
            app.set_servers(2);
        }
        redis.freeze();
        eventually("the calls are fast enough", async || {
            let clients = clients(world, &apps).await;
            let responses = send(&clients, PATH, 200).await?;
            assert_eq!(statuses(&responses, 200), 100);
            Some(())
        })
        .await;
        redis.thaw();
        close(&apps).await;
    });
}

async fn limits_are_exact(world: &World, url: &str) {
    let apps = [world.sharing_server(url).await, world.sharing_server(url).await];
    eventually("the calls are fast enough", async || {
        let clients = clients(world, &apps).await;
        assert_eq!(statuses(&send(&clients, PATH, 250).await?, 200), 100);
        Some(())
    })
    .await;
    // A call with an address limit uses two keys, which must be in one slot.
    let (id, key) = world.create_key(Kind::Public).await;
    set_limits(world, &apps, id, 50, Some(30)).await;
    Client::new(&apps[0], &key).get(200, PATH).await;
    let metrics = apps[0].telemetry.metrics.render();
    assert!(
        metrics.contains("causeway_local_limit_decisions_total 0"),
        "{metrics}"
    );
    close(&apps).await;
}

#[test]
fn limits_are_exact_in_a_cluster() {
    let bus = free_port().to_string();
    let arguments = ["--cluster-enabled", "yes", "--cluster-port", &bus];
    with_redis(&arguments, async |world, redis| {
        assert_eq!(redis.command("CLUSTER ADDSLOTSRANGE 0 16383"), "+OK");
        eventually("the cluster is up", async || {
            redis
                .command("CLUSTER INFO")
                .contains("cluster_state:ok")
                .then_some(())
        })
        .await;
        limits_are_exact(world, &format!("redis-cluster://127.0.0.1:{}", redis.port)).await;
    });
}

#[test]
fn limits_are_exact_with_a_master_that_sentinel_names() {
    with_redis(&[], async |world, redis| {
        let watched = format!("sentinel monitor mymaster 127.0.0.1 {} 1\n", redis.port);
        let sentinel = RedisServer::start(&["--sentinel", &watched]);
        let url = format!("redis-sentinel://127.0.0.1:{}/mymaster", sentinel.port);
        limits_are_exact(world, &url).await;
        assert!(scripts(redis) > 0);
    });
}

#[test]
fn servers_that_share_only_a_database_are_told_what_they_lack() {
    with_redis(&[], async |world, redis| {
        let names = |config: &causeway::config::Config| {
            let unshared = unshared_settings(config).into_iter();
            unshared.map(|(setting, _)| setting).collect::<Vec<_>>()
        };
        let mut config = world.app.config.clone();
        assert_eq!(names(&config), ["redis_url", "blobs_url"]);
        config.redis.url = Some(redis.url().into());
        config.blobs_url = "file:///srv/pictures".to_owned();
        assert!(names(&config).is_empty());
        // Commands are not servers, and a server does not count itself.
        config.database = config.database.for_server();
        let first = App::build(config.clone()).await.unwrap();
        assert_eq!(first.db.count_other_servers().await.unwrap(), 0);
        config.database = config.database.for_server();
        let second = App::build(config).await.unwrap();
        assert_eq!(second.db.count_other_servers().await.unwrap(), 1);
        assert_eq!(world.app.db.count_other_servers().await.unwrap(), 2);
        close(&[first, second]).await;
    });
}
