//! Commands of disbursement are killed at random moments, and repeated: nothing is paid twice, nothing is lost, and a file that was
//! exported never changes.
//!
//! `CAUSEWAY_DISBURSE_ROUNDS` sets how many commands are killed.

use crate::database::Database;
use crate::files;
use crate::instance::{Instance, rounds, stderr_of};
use causeway::app::App;
use causeway::config::{Config, Overrides};
use giving::books::{EntryName, FeesPaidBy, Movement};
use giving::donations::{Label, NewDonation, RecipientName, find_recipient};
use giving::ledger::entry::Mode;
use platform::money::Cents;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// Commands that are killed for each database, unless `CAUSEWAY_DISBURSE_ROUNDS` is set.
const ROUNDS: u32 = 8;
/// Nonprofits that are paid in each batch.
const NONPROFITS: usize = 6;
const CENTS: i64 = 5_000;
const FEE: i64 = 175;

#[test]
fn killed_payments_are_made_once_on_sqlite() {
    kill_commands(Database::Sqlite);
}

#[test]
fn killed_payments_are_made_once_on_postgres() {
    kill_commands(Database::Postgres);
}

/// Operators who are killed.
struct Office {
    instance: Instance,
    app: App,
    runtime: tokio::runtime::Runtime,
    eins: Vec<String>,
    /// How long a command takes.
    duration: Duration,
    killed: u32,
    gifts: i64,
}

impl Office {
    fn open(database: Database) -> Office {
        let mut instance = Instance::new(database, 1_000);
        for (name, value) in [
            ("CAUSEWAY_DISBURSE__HOLD_DAYS", "0"),
            ("CAUSEWAY_DISBURSE__ACH__DESTINATION", "091000019"),
            ("CAUSEWAY_DISBURSE__ACH__ORIGIN", "1530196605"),
            ("CAUSEWAY_DISBURSE__ACH__COMPANY_ID", "1530196605"),
            ("CAUSEWAY_DISBURSE__ACH__COMPANY_NAME", "CAUSEWAY TEST"),
        ] {
            instance.settings.push((name, value.to_owned()));
        }
        let file = instance.folder.path().join("eo.csv");
        fs::write(&file, files::generated(200, 7).join("\r\n")).expect("a writable test file");
        instance.import(&file);
        instance.run(&["account", "create", "grace", "--operator"]);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let config = Config::load(&Overrides {
            data: Some(instance.data.clone()),
            listen: Some("127.0.0.1:0".to_owned()),
            metrics_listen: Some("off".to_owned()),
            database_url: instance.database.url().map(str::to_owned),
            is_isolated: true,
            ..Overrides::default()
        });
        let app = runtime.block_on(App::build(config.expect("valid settings")));
        let app = app.expect("an app");
        runtime.block_on(app.refresh_directory()).expect("a directory");
        let start = Instant::now();
        instance.run(&["disburse", "list"]);
        Office {
            eins: find_eligible(&runtime, &app),
            duration: start.elapsed(),
            killed: 0,
            gifts: 0,
            instance,
            app,
            runtime,
        }
    }

    fn import_payees(&self) {
        let mut rows = String::from("ein,method,routing_number,account_number\n");
        for (number, ein) in self.eins.iter().enumerate() {
            let _ = writeln!(rows, "{ein},ach,021000021,{}", 100_000 + number);
        }
        let file = self.instance.folder.path().join("payees.csv");
        fs::write(&file, rows).expect("a writable test file");
        self.instance
            .run(&["payee", "import", &file.display().to_string()]);
    }

    /// Gives to every nonprofit, and settles it.
    fn give(&mut self) {
        let label = |text: &str| Label::parse(text).expect("a label");
        for ein in &self.eins {
            self.gifts += 1;
            let id = format!("gift-{}", self.gifts);
            let app = &self.app;
            self.runtime.block_on(async {
                let name = RecipientName::parse(ein, None).expect("a name");
                let to = find_recipient(&app.db, &app.directory, &name)
                    .await
                    .expect("a recipient");
                let donation = NewDonation {
                    source: label("test"),
                    external_id: label(&id),
                    mode: Mode::Test,
                    to,
                    amount: Cents::new(CENTS),
                    donor: label("ana"),
                    name: None,
                    is_public: false,
                };
                app.giving.recorder.record(donation).await.expect("a donation");
                let settlement = Movement::Settlement {
                    transaction: label(&format!("txn-{id}")),
                    settles: EntryName {
                        source: label("test"),
                        external_id: label(&id),
                    },
                    amount: Cents::new(CENTS),
                    fee: Cents::new(FEE),
                    fees_paid_by: FeesPaidBy::Nonprofit,
                };
                app.giving.recorder.enter(settlement).await.expect("a settlement");
            });
        }
    }

    /// Kills a command at a random moment, and then repeats it until it is done or says that it was done before.
    fn insist(&mut self, arguments: &[&str]) -> Output {
        let most = 2 * self.duration.as_millis() as u64;
        let after = Duration::from_millis(self.instance.random.below(most));
        let mut child = self
            .instance
            .command(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        std::thread::sleep(after);
        _ = child.kill();
        child.wait().expect("a killed process");
        self.killed += 1;
        self.instance.wait_until_idle();
        self.instance
            .command(arguments)
            .output()
            .expect("the binary runs")
    }

    fn number(&self, sql: &'static str) -> i64 {
        self.instance.database.number(sql)
    }

    /// Pays a batch from donations to a closed batch, and kills every command once.
    fn pay(&mut self, batch: i64) {
        let number = batch.to_string();
        self.give();
        let prepared = self.insist(&["disburse", "prepare"]);
        let error = stderr_of(&prepared);
        assert!(
            prepared.status.success() || error.contains("nothing can be paid"),
            "{error}"
        );
        assert_eq!(self.number("select max(id) from disbursement_batches"), batch);
        let approved = self.insist(&["disburse", "approve", &number, "--operator", "grace"]);
        let error = stderr_of(&approved);
        assert!(
            approved.status.success() || error.contains("is approved"),
            "{error}"
        );
        let export = ["disburse", "export", &number, "--format", "nacha"];
        let first = self.insist(&export);
        assert!(first.status.success(), "{}", stderr_of(&first));
        for line in 1..=NONPROFITS {
            let (line, reference) = (line.to_string(), format!("T-{batch}-{line}"));
            let marked = self.insist(&[
                "disburse",
                "mark",
                &number,
                &line,
                "paid",
                "--reference",
                &reference,
            ]);
            assert!(marked.status.success(), "{}", stderr_of(&marked));
        }
        let again = self.instance.command(&export).output().expect("the binary runs");
        assert!(
            again.stdout == first.stdout,
            "the file of batch {batch} has changed"
        );
        self.verify(batch);
    }

    /// What was paid is what was owed, and every entry is in one line.
    fn verify(&self, batch: i64) {
        self.instance.check();
        let count = NONPROFITS as i64 * batch;
        let paid = self.number(
            "select cast(coalesce(sum(amount), 0) as bigint) from disbursement_lines where state = 'paid'",
        );
        assert_eq!(paid, count * (CENTS - FEE));
        let sent = self.number("select cast(coalesce(-sum(amount), 0) as bigint) from ledger_entries where kind = 'disbursement'");
        assert_eq!(sent, paid);
        assert_eq!(self.number("select count(*) from disbursement_lines"), count);
        assert_eq!(
            self.number("select count(*) from owed_entries where batch is null"),
            0
        );
        assert_eq!(
            self.number("select count(*) from disbursement_batches where state <> 'closed'"),
            0
        );
    }
}

/// Finds nonprofits that can receive donations.
fn find_eligible(runtime: &tokio::runtime::Runtime, app: &App) -> Vec<String> {
    let rows = files::generated(200, 7);
    let mut found = Vec::new();
    for row in rows.iter().skip(1) {
        let ein = row.split(',').next().unwrap_or_default().to_owned();
        let nonprofit = runtime.block_on(app.directory.resolve_lenient(&ein));
        let is_eligible = nonprofit
            .ok()
            .and_then(|found| Some(found.nonprofit()?.is_disbursable()));
        if is_eligible == Some(true) {
            found.push(format!("{ein:0>9}"));
        }
        if found.len() == NONPROFITS {
            return found;
        }
    }
    panic!("too few nonprofits can receive donations");
}

fn kill_commands(database: Database) {
    if !database.is_available() {
        return;
    }
    let rounds = rounds("CAUSEWAY_DISBURSE_ROUNDS", ROUNDS);
    let mut office = Office::open(database);
    office.import_payees();
    let mut batch = 0;
    while office.killed < rounds {
        batch += 1;
        office.pay(batch);
    }
    let listed: Value = office.instance.run(&["disburse", "list"]);
    assert_eq!(listed["owed"], 0);
    println!(
        "{database:?}: {} commands were killed in {batch} batches",
        office.killed
    );
    office.runtime.block_on(office.app.db.close());
}
