//! Limits of public pages at several servers that share Redis.

use crate::client::Client;
use crate::dashboard::visitor::{Visitor, hidden};
use crate::wait::eventually;
use crate::world::{World, redis_url};
use causeway::app::App;
use std::time::{Duration, Instant};

on_both_databases!(
    donations_started_at_all_servers_count_together,
    searches_of_a_network_at_all_servers_count_together,
);

const GIVE: &str = "/american-red-cross/give";
/// Within this time, nothing leaves the window. A slow machine tries again from another network.
const MAX_DURATION: Duration = Duration::from_secs(50);

async fn servers(world: &World) -> [App; 2] {
    world.load_demo().await;
    [
        world.sharing_server(&redis_url()).await,
        world.sharing_server(&redis_url()).await,
    ]
}

async fn donations_started_at_all_servers_count_together(world: &World) {
    let apps = servers(world).await;
    let mut host = 0;
    eventually("the donations are fast enough", async || {
        host += 1;
        let start = Instant::now();
        let visitors = apps
            .each_ref()
            .map(|app| Visitor::with_client(&Client::new(app, "").at([192, 0, 2, host])));
        let mut started = 0;
        for number in 0..36 {
            let form = visitors[number % 2].get(200, GIVE).await.text();
            let fields = [("amount", "5"), ("once", &hidden(&form, "once"))];
            started += usize::from(visitors[number % 2].post_any(GIVE, &fields).await == 303);
        }
        (start.elapsed() < MAX_DURATION).then(|| assert_eq!(started, 30))
    })
    .await;
}

async fn searches_of_a_network_at_all_servers_count_together(world: &World) {
    let apps = servers(world).await;
    let mut host = 0;
    eventually("the searches are fast enough", async || {
        host += 1;
        let start = Instant::now();
        let clients = apps
            .each_ref()
            .map(|app| Client::new(app, "").at([198, 51, 100, host]));
        let mut served = 0;
        for number in 0..1_300 {
            let (status, _) = clients[number % 2].get_any("/search.json?q=red").await;
            served += usize::from(status == 200);
        }
        (start.elapsed() < MAX_DURATION).then(|| assert_eq!(served, 1_200))
    })
    .await;
}
