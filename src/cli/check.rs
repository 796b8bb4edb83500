//! `causeway check`

use super::output::Output;
use crate::app::App;
use anyhow::bail;
use clap::Args;
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use directory::snapshot::check::CheckReport as DirectoryCheck;
use giving::books::balances::Balances;
use giving::check::{LedgerCheck, ReceiptCheck};
use giving::disbursement::audit::{self, DisbursementCheck};
use giving::ledger::anchors::comparison::{Loss, LostPlace};
use giving::ledger::checkpoints::{self, Checkpoint};
use giving::ledger::entry::{Account, Totals};
use platform::hosted::{self, check::PictureCheck};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, Write as _};

#[derive(Args)]
#[command(
    after_help = "Examples:\n  causeway check --data /var/lib/causeway\n  causeway check --balances --json"
)]
pub(super) struct Check {
    /// Verify every entry of the ledger, including those that an earlier check verified; only this finds later damage
    /// to them
    #[arg(long)]
    full: bool,
    /// Print the balances of the books too, and what is owed to each nonprofit
    #[arg(long)]
    balances: bool,
}

impl Check {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let mut report = check(app, self.full).await?;
        if let Some(checkpoint) = report.checkpoint.take() {
            save(app, &checkpoint).await;
        }
        if self.balances {
            add_balances(app, &mut report).await?;
        }
        output.print(&report.value, || report.text)?;
        report.verdict
    }
}

/// What a check found.
pub(super) struct CheckReport {
    pub value: Value,
    pub text: String,
    /// The most important difference.
    pub verdict: anyhow::Result<()>,
    /// From where the next check can continue, if that is further than before.
    checkpoint: Option<Checkpoint>,
    /// The balances of the books.
    balances: Balances,
}

/// Adds the balances of the books to a report: in JSON with the signs of the ledger, and in the text what is owed to each
/// nonprofit as an amount above zero.
async fn add_balances(app: &App, report: &mut CheckReport) -> anyhow::Result<()> {
    let mut by_mode = json!({ "live": {}, "test": {} });
    if report.balances.is_empty() {
        report.text.push_str("\nthe books have no entries");
    }
    let mut last_mode = None;
    for (mode, account, balance) in report.balances.iter() {
        if last_mode != Some(mode) {
            let _ = write!(report.text, "\nbalances of {} entries:", mode.as_str());
            last_mode = Some(mode);
        }
        by_mode[mode.as_str()][account.name()] = balance.get().into();
        let _ = match account {
            Account::Owed(id) => {
                let found = app.directory.find(&Identifier::Id(id)).await?;
                let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
                let name = nonprofit.map_or("unknown", |nonprofit| nonprofit.name);
                write!(report.text, "\n  owed to {id} ({name}): {}", balance.reversed())
            }
            account => write!(report.text, "\n  {}: {balance}", account.name()),
        };
    }
    report.value["balances"] = by_mode;
    Ok(())
}

/// Checks everything, and neither prints nor writes anything. Unless it is full, the ledger is checked after the last checkpoint.
pub(super) async fn check(app: &App, is_full: bool) -> anyhow::Result<CheckReport> {
    let integrity = app.db.check_integrity().await;
    match Box::pin(check_ledger(app, is_full)).await {
        Ok(ledger) => Box::pin(report(app, integrity, ledger)).await,
        // If the database file is damaged, the integrity check has the better error message.
        Err(error) => Err(integrity.err().unwrap_or(error)),
    }
}

/// What was found in the ledger and in its anchors.
struct CheckedLedger {
    ledger: LedgerCheck,
    anchors: usize,
    loss: Option<Loss>,
    lost_places: Vec<LostPlace>,
    receipts: ReceiptCheck,
}

/// Checks the ledger, after the last checkpoint or as a whole.
async fn check_ledger(app: &App, is_full: bool) -> anyhow::Result<CheckedLedger> {
    // Anchors are read before the ledger, which may grow meanwhile.
    let anchors = app.giving.anchors.list().await?;
    let checkpoint = if is_full {
        None
    } else {
        checkpoints::store::find(&app.db, &app.secret).await?
    };
    let ledger = giving::check::check_after(&app.db, checkpoint).await?;
    let count = anchors.len();
    let loss = app.giving.anchors.find_loss(anchors).await?;
    Ok(CheckedLedger {
        ledger,
        anchors: count,
        loss,
        lost_places: app.giving.anchors.find_lost_places().await?,
        receipts: giving::check::check_receipts(&app.db).await?,
    })
}

async fn save(app: &App, checkpoint: &Checkpoint) {
    let saved = checkpoints::store::save(&app.db, &app.secret, checkpoint, app.clock.millis()).await;
    if let Err(error) = saved {
        // The verdict does not depend on it, and the next check starts where this one did.
        let _ = writeln!(
            io::stderr(),
            "causeway: could not save how far the ledger is verified: {error}"
        );
    }
}

async fn report(
    app: &App,
    integrity: anyhow::Result<()>,
    checked: CheckedLedger,
) -> anyhow::Result<CheckReport> {
    let CheckedLedger {
        mut ledger,
        anchors,
        loss,
        lost_places,
        receipts,
    } = checked;
    let checkpoint = ledger
        .checkpoint
        .take()
        .filter(|checkpoint| loss.is_none() && checkpoint.entries > ledger.verified_before);
    let lost_places: Vec<String> = lost_places.iter().map(ToString::to_string).collect();
    let overlay_limit = app.config.directory.overlay_limit;
    let directory = directory::snapshot::check::check(&app.directory, &app.db, overlay_limit).await?;
    let damaged = app.directory.damaged_snapshots();
    let damaged = damaged
        .iter()
        .map(|path| format!("the snapshot {} was damaged", path.display()));
    let damaged: Vec<String> = damaged.collect();
    let mut pictures = hosted::check::check(&app.pictures).await?;
    pictures
        .differences
        .extend(giving::check::list_lost_covers(&app.db).await?);
    let disbursement = audit::check(&app.db).await?;
    let lost = loss.as_ref().map(ToString::to_string);
    let differences: Vec<&String> = ledger
        .errors
        .iter()
        .chain(&lost)
        .chain(&lost_places)
        .chain(&receipts.differences)
        .chain(&disbursement.differences)
        .chain(&directory.differences)
        .chain(&damaged)
        .chain(&pictures.differences)
        .collect();
    let value = json!({
        "nonprofits": directory.nonprofits,
        "pictures": pictures.pictures,
        "entries": ledger.entries,
        "verifiedBefore": ledger.verified_before,
        "anchors": anchors,
        "payments": disbursement.lines,
        "fundraisers": ledger.fundraisers,
        "receipts": receipts.receipts,
        "totals": { "live": totals(ledger.live), "liveAndTest": totals(ledger.live_and_test) },
        "differences": differences,
    });
    let mut text = format!(
        "checked {} nonprofits and {} pictures against the database\n\
         checked {} ledger entries and {} fundraisers\n\
         checked the totals of fundraisers: {} live, {} live and test",
        directory.nonprofits,
        pictures.pictures,
        ledger.entries,
        ledger.fundraisers,
        ledger.live.raised,
        ledger.live_and_test.raised
    );
    if receipts.receipts > 0 {
        let _ = write!(text, "\ncompared {} receipts with the ledger", receipts.receipts);
    }
    if disbursement.lines > 0 {
        let _ = write!(text, "\nchecked {} payments to nonprofits", disbursement.lines);
    }
    if anchors > 0 {
        let _ = write!(text, "\ncompared the ledger with {anchors} anchors");
    }
    if ledger.verified_before > 0 {
        let _ = write!(
            text,
            "\nentries up to {} were verified by an earlier check; causeway check --full verifies them again",
            ledger.verified_before
        );
    }
    let verdict = verdict(app, integrity, &ledger, lost, &receipts, &pictures, &directory)
        .and_then(|()| disbursement_verdict(&disbursement))
        .and_then(|()| places_verdict(&lost_places))
        .and_then(|()| damaged_verdict(&damaged));
    Ok(CheckReport {
        value,
        text,
        verdict,
        checkpoint,
        balances: ledger.balances,
    })
}

/// Returns an error if payments to nonprofits and the books differ.
fn disbursement_verdict(disbursement: &DisbursementCheck) -> anyhow::Result<()> {
    match disbursement.differences.as_slice() {
        [] => Ok(()),
        [first, ..] => bail!(
            "disbursement differs from the ledger in {} places, the first is: {first}; export nothing, and restore the database from a backup",
            disbursement.differences.len()
        ),
    }
}

fn verdict(
    app: &App,
    integrity: anyhow::Result<()>,
    ledger: &LedgerCheck,
    lost: Option<String>,
    receipts: &ReceiptCheck,
    pictures: &PictureCheck,
    directory: &DirectoryCheck,
) -> anyhow::Result<()> {
    if let [first, ..] = ledger.errors.as_slice() {
        bail!(
            "the ledger has {} errors, the first is: {first}; stop the server and restore the database from a backup",
            ledger.errors.len()
        );
    }
    integrity?;
    if let Some(loss) = lost {
        bail!(
            "{loss}; restore the database from a newer copy, or, if these entries are lost for good, run causeway anchor \
             accept-loss"
        );
    }
    if let [first, ..] = receipts.differences.as_slice() {
        bail!(
            "{} receipts differ from the ledger, the first is: {first}; donors see what the ledger says; find out who changed \
             the table donations, and restore these rows from a backup",
            receipts.count
        );
    }
    if let [first, ..] = pictures.differences.as_slice() {
        bail!(
            "{} pictures are damaged, the first is: {first}; restore them from a backup",
            pictures.differences.len()
        );
    }
    match directory.differences.as_slice() {
        [] => Ok(()),
        [first, ..] => bail!(
            "the directory differs from the database in {} places, the first is: {first}; \
             remove the snapshots in {} and start the server, which builds new ones",
            directory.differences.len(),
            app.config.data.join("directory").display()
        ),
    }
}

fn places_verdict(lost: &[String]) -> anyhow::Result<()> {
    if let [first, ..] = lost {
        bail!(
            "{first}; find out who removed them, and restore them if you can; if they are lost for good, run causeway anchor \
             accept-loss"
        );
    }
    Ok(())
}

/// A damaged snapshot does no harm, because the command has built a new one, but the disk that damaged it may.
fn damaged_verdict(damaged: &[String]) -> anyhow::Result<()> {
    if let [first, ..] = damaged {
        bail!("{first}, renamed, and built again; check the disk and the memory of this machine");
    }
    Ok(())
}

fn totals(totals: Totals) -> Value {
    json!({ "raised": totals.raised.get(), "supporters": totals.supporters })
}
