//! What can be said on the command line.

mod accounts;
mod check;
mod donation;
mod generate;
mod import;
mod keys;
mod limits;
mod output;
mod search;
mod serve;
pub mod stdout;

use self::output::Output;
use self::stdout::Stdout;
use crate::app::App;
use crate::config::{Config, Overrides, environment_warnings};
use clap::{Args, Parser, Subcommand};
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
    /// A settings file; config.default.toml shows every setting
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder that holds the embedded database and the directory snapshot
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// PostgreSQL instead of the embedded database: postgres://user:password@host/database
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the API
    Serve(serve::Serve),
    /// Load files into the directory, all of them or nothing
    #[command(subcommand)]
    Import(import::Import),
    /// Search the directory from here, and see why each result stands where it stands
    Search(search::Search),
    /// Write a synthetic EO BMF file of any size to standard output
    Generate(generate::Generate),
    /// Accounts, which own keys
    #[command(subcommand)]
    Account(accounts::Account),
    /// API keys
    #[command(subcommand)]
    Key(keys::Key),
    /// Calls a minute of one key
    #[command(subcommand)]
    Limit(limits::Limit),
    /// Gifts and refunds, and the journal that keeps them
    #[command(subcommand)]
    Donation(donation::Donation),
    /// Prove the journal, and the directory snapshot against the store; exit 1 where they differ
    #[command(after_help = "Example:\n  causeway check --data /var/lib/causeway")]
    Check,
    /// Print the description of the interface, as committed in openapi.json
    #[command(hide = true, after_help = "Example:\n  causeway openapi > openapi.json")]
    Openapi,
}

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    match run(Causeway::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            tell(&fault);
            ExitCode::FAILURE
        }
    }
}

/// Runs a command to its end.
fn run(causeway: Causeway) -> anyhow::Result<()> {
    let Causeway { command, global } = causeway;
    match command {
        Command::Generate(generate) => return generate.run(),
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
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        if let Command::Serve(serve) = command {
            serve.add_to(&mut overrides);
            return serve.run(Config::load(&overrides)?).await;
        }
        for warning in environment_warnings() {
            // The command runs either way.
            let _ = writeln!(io::stderr(), "causeway: {warning}");
        }
        let app = App::build(Config::load(&overrides)?).await?;
        let output = Output { json: global.json };
        let outcome = match command {
            Command::Import(import) => import.run(&app, output).await,
            Command::Account(account) => account.run(&app, output).await,
            Command::Key(key) => key.run(&app, output).await,
            Command::Limit(limit) => limit.run(&app, output).await,
            Command::Search(search) => search.run(&app, output).await,
            Command::Donation(donation) => donation.run(&app, output).await,
            Command::Check => check::run(&app, output).await,
            Command::Serve(_) | Command::Generate(_) | Command::Openapi => Ok(()),
        };
        app.db.close().await;
        outcome
    });
    runtime.shutdown_background();
    outcome
}

/// One line why, one line what to do. Our own messages have both, with a semicolon between them.
fn tell(fault: &anyhow::Error) {
    let outermost = fault.to_string();
    let (why, what_to_do) = if let Some((why, what_to_do)) = outermost.split_once("; ") {
        (with_causes(why, fault), Some(what_to_do.to_owned()))
    } else {
        let text = with_causes(&outermost, fault);
        let split = text
            .split_once("; ")
            .map(|(why, what_to_do)| (why.to_owned(), Some(what_to_do.to_owned())));
        split.unwrap_or((text, None))
    };
    let what_to_do = what_to_do.as_deref().unwrap_or_else(|| way_on(fault));
    // The exit code tells it too.
    let _ = writeln!(io::stderr(), "causeway: {why}\n  {what_to_do}");
}

/// What led to it, from the outside in; causes that only say again what stands before them are left out.
fn with_causes(why: &str, fault: &anyhow::Error) -> String {
    let mut text = why.to_owned();
    for cause in fault.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

fn way_on(fault: &anyhow::Error) -> &'static str {
    match fault.chain().any(is_of_the_disk) {
        true => "nothing was changed: make room on the disk, or mend it, and run this again",
        false => "see causeway --help, and the settings in config.default.toml",
    }
}

fn is_of_the_disk(cause: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(fault) = cause.downcast_ref::<io::Error>() {
        return matches!(
            fault.kind(),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
        );
    }
    let Some(sqlx::Error::Database(fault)) = cause.downcast_ref() else {
        return false;
    };
    // SQLite: I/O error, disk full. PostgreSQL: disk full.
    fault.code().is_some_and(|code| match code.parse::<u32>() {
        Ok(53_100) => true,
        Ok(number) => matches!(number & 0xFF, 10 | 13),
        Err(_) => false,
    })
}
