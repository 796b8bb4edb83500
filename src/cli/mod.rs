//! The command line: one module per command.

mod accounts;
mod anchor;
mod backup;
mod blobs;
mod check;
mod completions;
mod disburse;
mod doctor;
mod donation;
mod donor;
mod eligibility;
mod fundraisers;
mod generate;
mod history;
mod import;
mod keys;
mod ledger;
mod licenses;
mod limits;
mod line;
mod listen;
mod matching;
mod mcp;
mod output;
mod payee;
mod payments;
mod reports;
mod restore;
mod search;
mod secret;
mod serve;
pub mod stdout;
mod store;
mod try_out;
mod webhooks;

use self::output::Output;
use self::stdout::Stdout;
use crate::app::App;
use crate::config::export::changed_settings;
use crate::config::{Config, Overrides, environment_warnings};
use clap::{Args, CommandFactory, Parser, Subcommand};
use rustix::fs::Mode;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// A self-hosted directory of nonprofits, with search that answers every keystroke.
#[derive(Parser)]
#[command(
    version,
    arg_required_else_help = true,
    after_help = "Example:\n  causeway serve"
)]
struct Causeway {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

/// Flags that every command takes.
#[derive(Args)]
struct Global {
    /// A settings file; config.default.toml documents every setting
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder for the embedded database and the directory snapshot
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Use PostgreSQL instead of the embedded database: postgres://user:password@host/database
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the API, the site and the dashboard
    Serve(serve::Serve),
    /// Serve the demo directory from a temporary folder, with keys, for developing a client
    Try(try_out::Try),
    /// Import files into the directory, all of them or none
    #[command(subcommand)]
    Import(import::Import),
    /// Show what imports changed about a nonprofit, and when
    History(history::History),
    /// Search the directory, and explain the rank of each result
    Search(search::Search),
    /// Match the rows of a CSV file of any size to nonprofits
    Match(matching::Match),
    /// Check whether nonprofits may receive donations, and why
    #[command(subcommand)]
    Eligibility(eligibility::Eligibility),
    /// Serve the Model Context Protocol over standard input and output, for an AI application on this machine
    Mcp(mcp::Mcp),
    /// Write a synthetic EO BMF file of any size to standard output
    Generate(generate::Generate),
    /// Manage accounts, which own keys
    #[command(subcommand)]
    Account(accounts::Account),
    /// Manage API keys
    #[command(subcommand)]
    Key(keys::Key),
    /// Manage rate limits
    #[command(subcommand)]
    Limit(limits::Limit),
    /// List, record and refund donations, and export the ledger
    #[command(subcommand)]
    Donation(donation::Donation),
    /// Export the books: where the money of donations is, and which nonprofits it is owed to
    #[command(subcommand)]
    Ledger(ledger::Ledger),
    /// Compare the ledger with the payment provider, and explain differences
    #[command(subcommand)]
    Payments(payments::Payments),
    /// Pass money on to nonprofits: see what is owed, prepare, approve and export batches, and mark payments
    #[command(subcommand)]
    Disburse(disburse::Disburse),
    /// Import and list how nonprofits are paid
    #[command(subcommand)]
    Payee(payee::Payee),
    /// List or erase what is stored about a donor
    #[command(subcommand)]
    Donor(donor::Donor),
    /// List fundraisers, and hide or show one
    #[command(subcommand)]
    Fundraiser(fundraisers::Fundraiser),
    /// List and close reports from visitors and corrections that nonprofits request
    #[command(subcommand)]
    Report(reports::Report),
    /// Manage the webhook endpoints of accounts, and follow events from a developer's machine
    #[command(subcommand)]
    Webhook(webhooks::Webhook),
    /// Check the ledger, the pictures and the directory snapshot against the database; exit 1 on differences
    Check(check::Check),
    /// Check the server and the services that it uses, and suggest remedies; exit 1 on problems
    #[command(after_help = "Example:\n  causeway doctor --config /etc/causeway.toml")]
    Doctor,
    /// Back up the store, the pictures, the secret and the settings, while the server runs
    Backup(backup::Backup),
    /// Restore a backup to an empty data folder or an empty database
    Restore(restore::Restore),
    /// Move the store to another database
    #[command(subcommand)]
    Store(store::Store),
    /// Manage the anchors of the ledger, which show whether entries are missing at its end
    #[command(subcommand)]
    Anchor(anchor::Anchor),
    /// Manage the secret of the store
    #[command(subcommand)]
    Secret(secret::Secret),
    /// Manage the blob store, which holds pictures
    #[command(subcommand)]
    Blobs(blobs::Blobs),
    /// Print the completions for a shell: bash, elvish, fish, powershell or zsh
    Completions(completions::Completions),
    /// Write man pages for all commands
    Man(completions::Man),
    /// Print the notices and licenses of data in the program
    Licenses(licenses::Licenses),
    /// Print the OpenAPI description, as committed in openapi.json
    #[command(hide = true, after_help = "Example:\n  causeway openapi > openapi.json")]
    Openapi,
}

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    // The data folder is private, whatever the shell or the service manager set: libraries create files there too.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    match run(Causeway::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Runs a command.
fn run(causeway: Causeway) -> anyhow::Result<()> {
    let Causeway { command, global } = causeway;
    match command {
        Command::Generate(generate) => return generate.run(),
        Command::Completions(completions) => return completions.run(Causeway::command()),
        Command::Man(man) => return man.run(Causeway::command()),
        Command::Licenses(_) => return licenses::Licenses::run(),
        Command::Openapi => {
            Stdout::print(crate::api::openapi::text().trim_end())?;
            return Ok(());
        }
        _ => {}
    }
    let mut overrides = Overrides {
        config: global.config,
        data: global.data,
        database_url: global.database_url,
        ..Overrides::default()
    };
    let mut runtime = match command {
        // A single task records donations; more threads would only wake each other.
        Command::Donation(_) => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = runtime.enable_all().build()?;
    let outcome = runtime.block_on(async {
        if let Command::Serve(serve) = command {
            serve.add_to(&mut overrides);
            return serve.run(overrides).await;
        }
        if let Command::Try(try_out) = command {
            return try_out.run().await;
        }
        let output = Output { json: global.json };
        if let Command::Webhook(webhooks::Webhook::Listen(listen)) = command {
            return listen.run().await;
        }
        if let Command::Doctor = command {
            return doctor::run(&overrides, output).await;
        }
        for warning in environment_warnings() {
            // The command runs even if the warning cannot be printed.
            let _ = writeln!(io::stderr(), "causeway: {warning}");
        }
        let config = Config::load(&overrides)?;
        let command = match command {
            Command::Secret(secret) => return secret.run(&config, output).await,
            Command::Blobs(blobs) => return blobs.run(output).await,
            Command::Anchor(anchor::Anchor::Key { file }) => return anchor::print_key(&file, output),
            Command::Backup(backup) => {
                return backup.run(&config, changed_settings(&overrides)?, output).await;
            }
            Command::Restore(restore) => return restore.run(&config, output).await,
            Command::Store(store) => return store.run(config, output).await,
            command => command,
        };
        let app = App::build(config).await?;
        let outcome = match command {
            Command::Import(import) => import.run(&app, output).await,
            Command::History(history) => history.run(&app, output).await,
            Command::Account(account) => account.run(&app, output).await,
            Command::Key(key) => key.run(&app, output).await,
            Command::Limit(limit) => limit.run(&app, output).await,
            Command::Search(search) => search.run(&app, output).await,
            Command::Match(matching) => matching.run(&app, output).await,
            Command::Eligibility(eligibility) => eligibility.run(&app, output).await,
            Command::Mcp(mcp) => mcp.run(&app).await,
            Command::Donation(donation) => Box::pin(donation.run(&app, output)).await,
            Command::Ledger(ledger) => ledger.run(&app).await,
            Command::Payments(payments) => Box::pin(payments.run(&app, output)).await,
            Command::Disburse(disburse) => Box::pin(disburse.run(&app, output)).await,
            Command::Payee(payee) => Box::pin(payee.run(&app, output)).await,
            Command::Donor(donor) => donor.run(&app, output).await,
            Command::Fundraiser(fundraiser) => fundraiser.run(&app, output).await,
            Command::Report(report) => report.run(&app, output).await,
            Command::Webhook(webhook) => webhook.run(&app, output).await,
            Command::Check(check) => check.run(&app, output).await,
            Command::Anchor(anchor) => anchor.run(&app, output).await,
            Command::Serve(_)
            | Command::Try(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Licenses(_)
            | Command::Doctor
            | Command::Backup(_)
            | Command::Blobs(_)
            | Command::Restore(_)
            | Command::Store(_)
            | Command::Secret(_)
            | Command::Generate(_)
            | Command::Openapi => Ok(()),
        };
        app.db.close().await;
        outcome
    });
    runtime.shutdown_background();
    outcome
}

/// Prints one line about what went wrong and one about what to do. Our own messages contain both, separated by a
/// semicolon.
fn print_error(error: &anyhow::Error) {
    let outermost = error.to_string();
    let (problem, advice) = if let Some((problem, advice)) = outermost.split_once("; ") {
        (with_causes(problem, error), Some(advice.to_owned()))
    } else {
        let text = with_causes(&outermost, error);
        let split = text
            .split_once("; ")
            .map(|(problem, advice)| (problem.to_owned(), Some(advice.to_owned())));
        split.unwrap_or((text, None))
    };
    let advice = advice.as_deref().unwrap_or_else(|| default_advice(error));
    // If this fails, the exit code still reports the error.
    let _ = writeln!(io::stderr(), "causeway: {problem}\n  {advice}");
}

/// Appends the causes of an error, from the outside in, except those that the text already contains.
fn with_causes(problem: &str, error: &anyhow::Error) -> String {
    let mut text = problem.to_owned();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

fn default_advice(error: &anyhow::Error) -> &'static str {
    if error.chain().any(is_disk_error) {
        "nothing was changed; free disk space or repair the disk, and run this again"
    } else if error.chain().any(is_damaged) {
        "stop the server, and follow the runbook \"The database is damaged\" in docs/operate.md"
    } else if error.chain().any(is_timeout) {
        "the database is away or busy; run this again, or increase database.acquire_timeout"
    } else {
        "see causeway --help, and the settings in config.default.toml"
    }
}

fn is_timeout(cause: &(dyn std::error::Error + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(sqlx::Error::PoolTimedOut))
}

/// Returns whether SQLite found that its file is damaged, or is no database. PostgreSQL: data or an index is corrupted.
fn is_damaged(cause: &(dyn std::error::Error + 'static)) -> bool {
    let Some(sqlx::Error::Database(error)) = cause.downcast_ref() else {
        return false;
    };
    error.code().is_some_and(|code| match code.parse::<u32>() {
        Ok(number) if code.len() < 5 => matches!(number & 0xFF, 11 | 26),
        _ => matches!(&*code, "XX001" | "XX002"),
    })
}

fn is_disk_error(cause: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = cause.downcast_ref::<io::Error>() {
        return matches!(
            error.kind(),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
        );
    }
    let Some(sqlx::Error::Database(error)) = cause.downcast_ref() else {
        return false;
    };
    // SQLite: I/O error, disk full. PostgreSQL: disk full.
    error.code().is_some_and(|code| match code.parse::<u32>() {
        Ok(53_100) => true,
        Ok(number) => matches!(number & 0xFF, 10 | 13),
        Err(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the commands, options and arguments without a help text.
    fn undocumented(command: &clap::Command, path: &str) -> Vec<String> {
        let path = format!("{path} {}", command.get_name());
        let mut found = Vec::new();
        if command.get_about().is_none() {
            found.push(path.clone());
        }
        let arguments = command
            .get_arguments()
            .filter(|argument| argument.get_help().is_none());
        found.extend(arguments.map(|argument| format!("{path}: {}", argument.get_id())));
        found.extend(
            command
                .get_subcommands()
                .flat_map(|command| undocumented(command, &path)),
        );
        found
    }

    #[test]
    fn every_command_and_every_option_has_a_help_text() {
        assert_eq!(undocumented(&Causeway::command(), ""), [""; 0]);
    }

    #[test]
    fn the_help_of_limit_set_names_every_class() {
        let mut command = Causeway::command();
        let set = command
            .find_subcommand_mut("limit")
            .and_then(|limit| limit.find_subcommand_mut("set"));
        let help = set.unwrap().render_long_help().to_string();
        for class in access::limits::Class::ALL {
            assert!(help.contains(&format!("{}=", class.name())), "{help}");
        }
    }
}
