//! Measures payments by Stripe, next to the simulator: donations that events complete, a Stripe that does not answer, and the
//! memory of a comparison of many transactions.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::causeway::{Causeway, Server};
use crate::cleanup::ScratchDir;
use crate::client::saturate;
use crate::connection::Connection;
use crate::format::{MEBIBYTE, mebibytes, median, rate, ratio, seconds, with_commas};
use crate::fundraisers::single_row_commits;
use crate::interference::{self, CpuMonitor};
use crate::options::{Options, ServerOptions};
use crate::process::{run, tool};
use crate::requests::{Requests, encode_segment, get_request};
use crate::sample::{ApiClient, sample_eins_from_file};
use crate::stripe::{StripeSimulator, push_event};
use crate::table::{Table, Verdict};

/// The connections over which events arrive.
const SENDERS: usize = 16;
/// Donors who start donations all the time, each waiting for its payment page.
const STARTERS: usize = 8;
const AMOUNT: u32 = 2_500;
const MIN_RATIO_TO_COMMITS: f64 = 0.25;
const MIN_RATIO_IN_SILENCE: f64 = 0.9;
const MAX_GROWTH: u64 = 64 * MEBIBYTE;
/// The transactions of the comparison that the memory of the large one is compared with.
const FEW_TRANSACTIONS: u32 = 100;
const COMPLETION_TIMEOUT: Duration = Duration::from_mins(5);

#[derive(Args)]
pub(crate) struct Payments {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: ServerOptions,
    /// The Stripe simulator
    #[arg(long, value_name = "FILE", default_value = "target/release/stripe-simulator")]
    simulator: PathBuf,
    /// Number of donations that events complete in each measurement, and of single-row commits
    #[arg(long, value_name = "N", default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(100..))]
    donations: u32,
    /// How long Stripe does not answer, in seconds
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    silence: f64,
    /// Number of balance transactions that are compared; Stripe sends 800 of them a second at most
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    transactions: u32,
}

/// Rates of each round, with and without an answer from Stripe.
#[derive(Default)]
struct Rates {
    commits: Vec<f64>,
    completed: Vec<f64>,
    pages: [Vec<f64>; 2],
    donations: [Vec<f64>; 2],
}

/// The peak memory and the time of a comparison.
struct Comparison {
    memory: u64,
    elapsed: Duration,
}

/// Donations that wait for their event.
struct Started {
    /// The ID of the store, and of the nonprofit as SQL.
    store: String,
    nonprofit: String,
    last: u64,
}

impl Payments {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let cores = self.serving.cores;
        let stripe = StripeSimulator::start(&self.simulator, cores.client_core, scratch)?;
        let mut prepared = self.serving.prepare(&self.options.causeway, scratch)?;
        prepared.causeway.set_settings(stripe.settings());
        let causeway = &prepared.causeway;
        let key = causeway.create_public_key(self.serving.directory.limit)?;
        let server = causeway.serve(cores)?;
        let api = ApiClient {
            address: server.address,
            key: key.value.clone(),
        };
        let file = prepared
            .file
            .as_deref()
            .context("pass --file or --generate: the donations need its nonprofits")?;
        let (nonprofit, slug) = find_recipient(&api, sample_eins_from_file(file, 500)?)?;
        let mut started = Started {
            store: sqlite(&causeway.database(), "select lower(hex(id)) from store;", scratch)?,
            nonprofit: format!("x'{}'", nonprofit.replace('-', "")),
            last: 0,
        };
        let silence = Duration::try_from_secs_f64(self.silence).context("--silence is not a duration")?;
        let mut rates = Rates::default();
        let monitors = CpuMonitor::for_cores(cores, &[server.process_id()]);
        for round in 1..=self.options.rounds {
            rates.commits.push(single_row_commits(scratch, self.donations)?);
            rates
                .completed
                .push(self.complete(causeway, &server, &mut started, scratch)?);
            for (index, silence) in [None, Some(silence)].into_iter().enumerate() {
                stripe.be_silent_for(silence)?;
                let (pages, donations) = self.give_beside(causeway, &server, &slug, &mut started, scratch)?;
                rates.pages[index].push(pages);
                rates.donations[index].push(donations);
            }
            stripe.be_silent_for(None)?;
            eprintln!("round {round}: {}", rate(*rates.completed.last().unwrap_or(&0.0)));
        }
        server.stop(scratch)?;
        stripe.charge_fees(FEW_TRANSACTIONS)?;
        let few = compare(causeway)?;
        stripe.charge_fees(self.transactions)?;
        eprintln!("comparing {} transactions", with_commas(self.transactions.into()));
        let many = compare(causeway)?;
        let mut table = self.table(&rates, &few, &many);
        table.add_note(interference::note(&monitors));
        Ok(table)
    }

    /// Sends the events of donations that were started, and returns how many a second are completed.
    fn complete(
        &self,
        causeway: &Causeway<'_>,
        server: &Server,
        started: &mut Started,
        scratch: &ScratchDir,
    ) -> Result<f64> {
        let database = causeway.database();
        let count = "select count(*) from donations where state = 'completed';";
        let before: u64 = sqlite(&database, count, scratch)?.parse()?;
        let events = started.start(server, &database, self.donations, scratch)?;
        let begun = Instant::now();
        saturate(&events, SENDERS, Duration::ZERO)?;
        let expected = before + u64::from(self.donations);
        while sqlite(&database, count, scratch)?.parse::<u64>()? < expected {
            ensure!(
                begun.elapsed() < COMPLETION_TIMEOUT,
                "donations are not completed"
            );
            thread::sleep(Duration::from_millis(20));
        }
        Ok(f64::from(self.donations) / begun.elapsed().as_secs_f64())
    }

    /// Measures pages, and donations that events complete, while donors wait for their payment page.
    fn give_beside(
        &self,
        causeway: &Causeway<'_>,
        server: &Server,
        slug: &str,
        started: &mut Started,
        scratch: &ScratchDir,
    ) -> Result<(f64, f64)> {
        let page = format!("/{}", encode_segment(slug));
        let pages = Requests::of_path(server.address, &page);
        let (is_over, first) = (AtomicBool::new(false), started.last);
        thread::scope(|scope| {
            for starter in 0..STARTERS {
                let (is_over, page) = (&is_over, &page);
                scope.spawn(move || start_until(is_over, server, page, (starter, first)));
            }
            // Long enough for every donor to wait.
            thread::sleep(Duration::from_millis(200));
            let half = Duration::try_from_secs_f64(self.silence / 2.0)?;
            let measured = saturate(&pages, self.serving.connections.into(), half).and_then(|pages| {
                let donations = self.complete(causeway, server, started, scratch)?;
                Ok((pages.rate(), donations))
            });
            is_over.store(true, Ordering::Relaxed);
            measured
        })
    }

    fn table(&self, rates: &Rates, few: &Comparison, many: &Comparison) -> Table {
        let title = format!(
            "Payments by Stripe: {} donations, {STARTERS} donors who wait for a page, {} transactions; median of {}",
            with_commas(self.donations.into()),
            with_commas(self.transactions.into()),
            self.options.rounds
        );
        let mut table = Table::new(title, &["measurement", "value", "ratio", "relative to", "bound"]);
        let [answering, silent] = [0, 1];
        let commits = rate(median(rates.commits.iter().copied()));
        table.add_row(
            &["single-row commits by sqlite3", &commits, "", "", ""],
            Verdict::Unbounded,
        );
        for (name, own, base, relative_to, bound) in [
            (
                "donations completed by events",
                &rates.completed,
                &rates.commits,
                "single-row commits",
                MIN_RATIO_TO_COMMITS,
            ),
            (
                "pages while Stripe is silent",
                &rates.pages[silent],
                &rates.pages[answering],
                "while it answers",
                MIN_RATIO_IN_SILENCE,
            ),
            (
                "donations completed then",
                &rates.donations[silent],
                &rates.donations[answering],
                "while it answers",
                MIN_RATIO_IN_SILENCE,
            ),
        ] {
            let relative = median(own.iter().zip(base).map(|(own, base)| own / base));
            let cells = [
                name,
                &rate(median(own.iter().copied())),
                &ratio(relative),
                relative_to,
                &format!(">= {}", ratio(bound)),
            ];
            table.add_row(&cells, Verdict::of(relative >= bound));
        }
        let growth = many.memory.saturating_sub(few.memory);
        let relative_to = format!("{FEW_TRANSACTIONS} transactions, {}", mebibytes(few.memory));
        let cells = [
            "memory that the comparison adds",
            &mebibytes(growth),
            "",
            &relative_to,
            &format!("< {}", mebibytes(MAX_GROWTH)),
        ];
        table.add_row(&cells, Verdict::of(growth < MAX_GROWTH));
        table.add_row(
            &["time of the comparison", &seconds(many.elapsed), "", "", ""],
            Verdict::Unbounded,
        );
        table
    }
}

impl Started {
    /// Stores donations that were started, as the form does, and returns their events.
    fn start(
        &mut self,
        server: &Server,
        database: &Path,
        count: u32,
        scratch: &ScratchDir,
    ) -> Result<Requests> {
        let first = self.last + 1;
        self.last += u64::from(count);
        let path = scratch.path("started.sql");
        let mut script = BufWriter::new(File::create(&path)?);
        writeln!(script, "pragma busy_timeout = 60000;\nbegin immediate;")?;
        for number in first..=self.last {
            writeln!(
                script,
                "insert into donations (id, receipt_id, state, provider, livemode, nonprofit_id, amount, is_public, \
                 started_at, changed_at) values (x'{}', x'{}', 'started', 'stripe', 0, {}, {AMOUNT}, 0, 0, 0);",
                donation_id(number),
                donation_id(number).replacen("aa", "bb", 1),
                self.nonprofit
            )?;
        }
        writeln!(script, "commit;")?;
        script.flush()?;
        sqlite(database, &format!(".read {}", path.display()), scratch)?;
        let mut events = Requests::new(server.address);
        for number in first..=self.last {
            push_event(&mut events, &donation_id(number), &self.store, AMOUNT)?;
        }
        Ok(events)
    }
}

/// The ID of a donation, as 32 hexadecimal digits.
fn donation_id(number: u64) -> String {
    format!("aa{number:030x}")
}

/// Starts one donation after another, each with a form of its own. `first` is different each time this is called.
fn start_until(is_over: &AtomicBool, server: &Server, page: &str, (starter, first): (usize, u64)) {
    for number in 0_u64.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let once = format!("{starter:08x}-0000-4000-8000-{:012x}", (first << 16) + number);
        let body = format!("amount=25&public=no&once={once}");
        let request = format!(
            "POST {page}/give HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            server.address,
            body.len()
        );
        // Its outcome is not measured; while Stripe is silent, there is none for a while.
        let _ = Connection::open(server.address)
            .and_then(|mut connection| Ok(connection.request(request.as_bytes())?.status));
    }
}

/// Compares the ledger with Stripe.
fn compare(causeway: &Causeway<'_>) -> Result<Comparison> {
    let completed = causeway.reconcile()?;
    Ok(Comparison {
        memory: completed.peak_memory,
        elapsed: completed.elapsed,
    })
}

/// Returns the ID and the slug of the first nonprofit that can receive donations.
fn find_recipient(api: &ApiClient, eins: Vec<String>) -> Result<(String, String)> {
    let mut connection = Connection::open(api.address)?;
    for ein in eins {
        let request = get_request(api.address, &api.path(&format!("nonprofit/{ein}"), ""));
        let body: Value = serde_json::from_slice(connection.request(request.as_bytes())?.body)?;
        let nonprofit = &body["data"]["nonprofit"];
        if let (Some(id), Some(slug), Some(true)) = (
            nonprofit["id"].as_str(),
            nonprofit["primarySlug"].as_str(),
            nonprofit["isDisbursable"].as_bool(),
        ) {
            return Ok((id.to_owned(), slug.to_owned()));
        }
    }
    anyhow::bail!("no nonprofit in the file can receive donations")
}

/// Runs statements in a database and returns what they print.
pub(crate) fn sqlite(database: &Path, statements: &str, scratch: &ScratchDir) -> Result<String> {
    let completed = run(
        tool("sqlite3", "sqlite3")?
            .arg("-bail")
            .arg(database)
            .arg(statements),
        scratch,
    )?;
    Ok(completed
        .stdout
        .lines()
        .last()
        .unwrap_or_default()
        .trim()
        .to_owned())
}
