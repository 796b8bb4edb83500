//! Measures webhooks: the deliveries of one core next to a plain client that posts to the same receiver, the delay of events,
//! what endpoints cost donations, and what a dead endpoint with many waiting events costs.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::base64::base64;
use crate::causeway::{Causeway, Server, free_address};
use crate::cleanup::ScratchDir;
use crate::client::saturate;
use crate::connection::Connection;
use crate::cores::pin_thread;
use crate::format::{MEBIBYTE, latency, mebibytes, median, rate, ratio, with_commas};
use crate::fundraisers::{Target, create_fundraiser, create_target};
use crate::interference::{self, CpuMonitor, cpu_time};
use crate::options::{Options, ServerOptions};
use crate::payments::sqlite;
use crate::receiver::{Arrivals, Receiver};
use crate::requests::Requests;
use crate::sample::{ApiClient, sample_eins_from_file};
use crate::table::{Table, Verdict};

/// Donations that are written at the same time.
const WRITERS: u16 = 8;
/// The endpoints in the measurement of deliveries: each has up to eight attempts in flight, and a server 64.
const BUSY_ENDPOINTS: usize = 8;
const PLAIN_CONNECTIONS: usize = 64;
/// The endpoints of an account that may slow donations down.
const MAX_ENDPOINTS: usize = 20;
/// The events in a second in the measurement of delays, and the fundraisers that they are about.
const EVENTS_PER_SECOND: u32 = 200;
const FUNDRAISERS: usize = 50;
const IDLE: Duration = Duration::from_secs(10);
const MIN_RATIO_TO_PLAIN: f64 = 0.25;
const MIN_RATIO_OF_DONATIONS: f64 = 0.9;
const MAX_DELAY: Duration = Duration::from_secs(1);
const MAX_GROWTH: u64 = 32 * MEBIBYTE;
const MAX_IDLE_CPU: f64 = 0.02;
const MAX_RATIO_OF_DELAYS: f64 = 1.5;
const TIMEOUT: Duration = Duration::from_hours(1);

#[derive(Args)]
pub(crate) struct Webhooks {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: ServerOptions,
    /// Number of donations in each measurement
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(100..))]
    donations: u32,
    /// Number of events that wait for the dead endpoint
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(100..))]
    backlog: u32,
}

/// The rates of each round.
#[derive(Default)]
struct Rates {
    plain: Vec<f64>,
    deliveries: Vec<f64>,
    donations: [Vec<f64>; 2],
}

/// What a server costs while it has nothing to do, and the delay of its events.
struct State {
    memory: u64,
    cpu: f64,
    delay: Duration,
}

/// What all measurements use.
struct Bench<'a> {
    causeway: &'a Causeway<'a>,
    scratch: &'a ScratchDir,
    receiver: Receiver,
    authorization: String,
    target: Target,
    /// The files of donations that were written.
    files: u32,
}

impl Webhooks {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let cores = self.serving.cores;
        let mut prepared = self.serving.prepare(&self.options.causeway, scratch)?;
        let settings = vec![("CAUSEWAY_WEBHOOKS__ALLOW_PRIVATE", true.to_string())];
        prepared.causeway.set_settings(settings);
        let causeway = &prepared.causeway;
        let key = causeway.create_public_key(self.serving.directory.limit)?;
        let pair = format!("{}:{}", key.value, causeway.create_private_key()?);
        let authorization = format!("Authorization: Basic {}\r\n", base64(pair.as_bytes()));
        let server = causeway.serve(cores)?;
        let api = ApiClient {
            address: server.address,
            key: key.value.clone(),
        };
        let file = prepared
            .file
            .as_deref()
            .context("pass --file or --generate: the donations need its nonprofits")?;
        let target = create_target(&api, &authorization, sample_eins_from_file(file, 500)?)?;
        let mut bench = Bench {
            causeway,
            scratch,
            receiver: Receiver::start(cores.client_core)?,
            authorization,
            target,
            files: 0,
        };
        let mut rates = Rates::default();
        // These run before the program is pinned, so that the commands it starts may use every core.
        for round in 1..=self.options.rounds {
            bench.compare_donations(&server, self.donations, &mut rates)?;
            eprintln!("round {round}: donations are compared");
        }
        server.stop(scratch)?;
        for round in 1..=self.options.rounds {
            let arrivals = bench.deliver(self.donations, cores)?;
            rates.deliveries.push(arrivals.rate());
            let plain = bench.post_plainly(&arrivals, self.options.round_duration()?, cores.server_core)?;
            rates.plain.push(plain);
            eprintln!("round {round}: deliveries at {}", rate(arrivals.rate()));
        }
        let server = causeway.serve(cores)?;
        let before = bench.observe(&server, self.options.round_duration()?)?;
        let monitors = CpuMonitor::for_cores(cores, &[server.process_id()]);
        bench.fill_dead_endpoint(self.backlog)?;
        let after = bench.observe(&server, self.options.round_duration()?)?;
        let mut table = self.table(&rates, &before, &after);
        table.add_note(interference::note(&monitors));
        server.stop(scratch)?;
        Ok(table)
    }

    fn table(&self, rates: &Rates, before: &State, after: &State) -> Table {
        let title = format!(
            "Webhooks: {} donations, {} events that wait for a dead endpoint; median of {}",
            with_commas(self.donations.into()),
            with_commas(self.backlog.into()),
            self.options.rounds
        );
        let mut table = Table::new(title, &["measurement", "value", "ratio", "relative to", "bound"]);
        let [without, with] = &rates.donations;
        for (name, own, base, bound) in [
            ("posts of a plain client", &rates.plain, None, 0.0),
            (
                "deliveries",
                &rates.deliveries,
                Some(("a plain client", &rates.plain)),
                MIN_RATIO_TO_PLAIN,
            ),
            ("donations without endpoints", without, None, 0.0),
            (
                "donations with 20 endpoints",
                with,
                Some(("without", without)),
                MIN_RATIO_OF_DONATIONS,
            ),
        ] {
            let value = rate(median(own.iter().copied()));
            let Some((relative_to, base)) = base else {
                table.add_row(&[name, &value, "", "", ""], Verdict::Unbounded);
                continue;
            };
            let relative = median(own.iter().zip(base).map(|(own, base)| own / base));
            let cells = [
                name,
                &value,
                &ratio(relative),
                relative_to,
                &format!(">= {}", ratio(bound)),
            ];
            table.add_row(&cells, Verdict::of(relative >= bound));
        }
        let cells = [
            &format!("p99 from commit to arrival at {EVENTS_PER_SECOND} events a second"),
            &latency(before.delay),
            "",
            "",
            &format!("< {}", latency(MAX_DELAY)),
        ];
        table.add_row(
            &cells.map(|cell| cell as &str),
            Verdict::of(before.delay < MAX_DELAY),
        );
        let relative = after.delay.as_secs_f64() / before.delay.as_secs_f64();
        let cells = [
            "the same beside a dead endpoint",
            &latency(after.delay),
            &ratio(relative),
            "without it",
            &format!("<= {}", ratio(MAX_RATIO_OF_DELAYS)),
        ];
        table.add_row(&cells, Verdict::of(relative <= MAX_RATIO_OF_DELAYS));
        let growth = after.memory.saturating_sub(before.memory);
        let cells = [
            "memory that a dead endpoint adds",
            &mebibytes(growth),
            "",
            &mebibytes(before.memory),
            &format!("< {}", mebibytes(MAX_GROWTH)),
        ];
        table.add_row(&cells, Verdict::of(growth < MAX_GROWTH));
        let cells = [
            "CPU of an idle server with it",
            &format!("{:.1}%", after.cpu * 100.0),
            "",
            &format!("{:.1}% without", before.cpu * 100.0),
            &format!("< {:.0}%", MAX_IDLE_CPU * 100.0),
        ];
        table.add_row(&cells, Verdict::of(after.cpu < MAX_IDLE_CPU));
        table
    }
}

impl Bench<'_> {
    /// Writes donations to the fundraiser, and returns the rate at which they are acknowledged.
    fn donate(&mut self, count: u32) -> Result<f64> {
        self.files += 1;
        let path: PathBuf = self.scratch.path("donations.jsonl");
        self.target.write_donations(&path, self.files, count)?;
        self.causeway.import_donations(&path, WRITERS)
    }

    /// Creates endpoints at the receiver and returns their IDs.
    fn create_endpoints(&self, count: usize, event: &str) -> Result<Vec<String>> {
        let create = |number| {
            let url = self.receiver.url(&format!("/{number}"));
            self.causeway.create_webhook(&url, event)
        };
        (0..count).map(create).collect()
    }

    fn delete_endpoints(&self, ids: &[String]) -> Result<()> {
        ids.iter().try_for_each(|id| self.causeway.delete_webhook(id))
    }

    fn wait_for_arrivals(&self, expected: u64) -> Result<()> {
        let begun = Instant::now();
        while self.receiver.count() < expected {
            ensure!(begun.elapsed() < TIMEOUT, "events do not arrive");
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Measures donations without endpoints and with as many as an account may have.
    fn compare_donations(&mut self, server: &Server, count: u32, rates: &mut Rates) -> Result<()> {
        let without = self.donate(count)?;
        rates.donations[0].push(without);
        self.wait_for_fan_out()?;
        let endpoints = self.create_endpoints(MAX_ENDPOINTS, "donation.succeeded")?;
        let with = self.donate(count)?;
        rates.donations[1].push(with);
        self.wait_for_arrivals(u64::from(count) * endpoints.len() as u64)?;
        self.receiver.take();
        self.delete_endpoints(&endpoints)?;
        ensure!(server.resident_memory()? > 0, "the server is gone");
        Ok(())
    }

    /// Measures the deliveries of one core: a server starts with events that wait in the outbox.
    fn deliver(&mut self, count: u32, cores: crate::cores::Cores) -> Result<Arrivals> {
        let endpoints = self.create_endpoints(BUSY_ENDPOINTS, "donation.succeeded")?;
        self.donate(count)?;
        let server = self.causeway.serve(cores)?;
        self.wait_for_arrivals(u64::from(count) * endpoints.len() as u64)?;
        let arrivals = self.receiver.take();
        server.stop(self.scratch)?;
        self.delete_endpoints(&endpoints)?;
        Ok(arrivals)
    }

    /// Posts a webhook that arrived again and again, from the core of the server, and returns the rate.
    fn post_plainly(&self, arrivals: &Arrivals, duration: Duration, core: usize) -> Result<f64> {
        let (headers, body) = &arrivals.message;
        let mut posts = Requests::new(self.receiver.address);
        posts.push_post("/0", headers, body);
        let rate = thread::scope(|scope| {
            let client = scope.spawn(|| {
                pin_thread(core)?;
                Ok::<_, anyhow::Error>(saturate(&posts, PLAIN_CONNECTIONS, duration)?.rate())
            });
            client
                .join()
                .map_err(|_| anyhow::anyhow!("the plain client panicked"))?
        })?;
        self.receiver.take();
        Ok(rate)
    }

    /// Waits until everything is fanned out.
    fn wait_for_fan_out(&self) -> Result<()> {
        let left = "select (select events from ledger_head) - (select outbox from event_sources);";
        let begun = Instant::now();
        while sqlite(&self.causeway.database(), left, self.scratch)? != "0" {
            ensure!(begun.elapsed() < TIMEOUT, "events are not fanned out");
            thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Lets many events wait for an endpoint at which nobody listens.
    fn fill_dead_endpoint(&mut self, count: u32) -> Result<()> {
        let url = format!("http://{}/", free_address()?);
        self.causeway.create_webhook(&url, "donation.succeeded")?;
        eprintln!("writing {} donations", with_commas(count.into()));
        self.donate(count)?;
        self.wait_for_fan_out()?;
        let failing = "select count(*) from webhook_endpoints where status = 'failing';";
        let begun = Instant::now();
        while sqlite(&self.causeway.database(), failing, self.scratch)? == "0" {
            ensure!(begun.elapsed() < TIMEOUT, "the dead endpoint does not fail");
            thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Measures an idle server, and the delay of the events of changed fundraisers.
    fn observe(&self, server: &Server, duration: Duration) -> Result<State> {
        let endpoint = self.create_endpoints(1, "fundraiser.updated")?;
        let mut connection = Connection::open(server.address)?;
        let mut fundraisers = Vec::with_capacity(FUNDRAISERS);
        for number in 0..FUNDRAISERS {
            let nonprofit = &self.target.nonprofit;
            fundraisers.push(create_fundraiser(
                &mut connection,
                server.address,
                &self.authorization,
                nonprofit,
                number,
            )?);
        }
        self.wait_for_fan_out()?;
        thread::sleep(IDLE / 2);
        let used = || cpu_time(server.process_id()).context("the server is gone");
        let before = used()?;
        thread::sleep(IDLE);
        let cpu = used()?.saturating_sub(before).as_secs_f64() / IDLE.as_secs_f64();
        let memory = server.resident_memory()?;
        self.receiver.take();
        let count = (duration.as_secs_f64() * f64::from(EVENTS_PER_SECOND)).ceil() as u32;
        let begun = Instant::now();
        for number in 0..count {
            let at = begun + Duration::from_secs(1) * number / EVENTS_PER_SECOND;
            thread::sleep(at.saturating_duration_since(Instant::now()));
            let fundraiser = &fundraisers[number as usize % FUNDRAISERS];
            let body = format!(r#"{{"title":"Run {number} at {count}"}}"#);
            let request = format!(
                "PATCH /v0.2/fundraiser/{fundraiser} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n{}\r\n{body}",
                server.address,
                body.len(),
                self.authorization
            );
            let response = connection.request(request.as_bytes())?;
            ensure!(
                response.status == 200,
                "a title was not changed: {}",
                response.status
            );
        }
        self.wait_for_arrivals(count.into())?;
        let delay = self.receiver.take().ages.percentile(0.99);
        self.delete_endpoints(&endpoint)?;
        Ok(State { memory, cpu, delay })
    }
}
