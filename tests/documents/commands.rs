//! Commands of the binary and their options.

use crate::markdown::Document;
use crate::shell;
use std::collections::HashMap;
use std::process::Command;

/// The help pages of the binary, each read once.
#[derive(Default)]
pub struct HelpPages(HashMap<Vec<String>, Option<Help>>);

/// What a command accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Help {
    has_subcommands: bool,
    /// Options, and whether they take a value.
    options: HashMap<String, bool>,
}

impl HelpPages {
    /// The help of a command, or `None` if there is no such command.
    fn find(&mut self, command: &[String]) -> Option<Help> {
        let read = || {
            let mut process = Command::new(env!("CARGO_BIN_EXE_causeway"));
            let output = process
                .args(command)
                .arg("--help")
                .output()
                .expect("causeway runs");
            let text = String::from_utf8_lossy(&output.stdout);
            output.status.success().then(|| Help::parse(&text))
        };
        self.0.entry(command.to_vec()).or_insert_with(read).clone()
    }
}

impl Help {
    fn parse(text: &str) -> Help {
        let mut help = Help::default();
        for line in text.lines() {
            help.has_subcommands |= line == "Commands:";
            let option = line.trim_start();
            let option = option
                .find("--")
                .filter(|at| *at == 0 || option.starts_with('-'))
                .map(|at| &option[at..]);
            if let Some(option) = option.filter(|_| line.starts_with(' ')) {
                let mut words = option.split_whitespace();
                let name = words.next().unwrap_or_default().to_owned();
                let takes_value = words.next().is_some_and(|word| word.starts_with('<'));
                help.options.insert(name, takes_value);
            }
        }
        help
    }
}

/// Checks every `causeway` command of a document.
pub fn check(document: &Document, help: &mut HelpPages) -> Vec<String> {
    let mut problems = Vec::new();
    for script in document.scripts() {
        for command in shell::commands(&script.text) {
            let Some(arguments) = arguments(&command) else {
                continue;
            };
            if let Err(problem) = check_arguments(arguments, help) {
                let problem = format!("`{}`: {problem}", command.join(" "));
                problems.push(document.problem(script.line, &problem));
            }
        }
    }
    problems
}

/// The arguments of a command that runs the binary, directly or with `cargo run`.
fn arguments(command: &[String]) -> Option<&[String]> {
    let program = command[0].rsplit('/').next();
    if program == Some("causeway") {
        return Some(&command[1..]);
    }
    let is_run = command.starts_with(&["cargo".to_owned(), "run".to_owned()]);
    let separator = command.iter().position(|word| word == "--")?;
    is_run.then(|| &command[separator + 1..])
}

fn check_arguments(arguments: &[String], help: &mut HelpPages) -> Result<(), String> {
    let mut command: Vec<String> = Vec::new();
    let mut page = help.find(&command).ok_or("the binary has no help")?;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if let Some(option) = word.strip_prefix("--") {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            let takes_value = page.options.get(&format!("--{name}"));
            let takes_value = takes_value.ok_or_else(|| format!("there is no option --{name}"))?;
            if *takes_value && value.is_none() {
                words.next();
            }
        } else if page.has_subcommands {
            command.push(word.clone());
            page = help
                .find(&command)
                .ok_or_else(|| format!("there is no command {}", command.join(" ")))?;
        }
    }
    Ok(())
}

#[test]
fn a_wrong_command_or_option_is_reported() {
    use crate::markdown::document;
    let mut help = HelpPages::default();
    let good = document(
        "`causeway key create` and `causeway search --explain \"red cro\"`\n```sh\nCAUSEWAY_LISTEN=x target/release/causeway --data d serve --empty\n\
         echo x | causeway account create ada --password-stdin > log\ncargo run -- serve --listen a:1\n```\n",
    );
    assert_eq!(check(&good, &mut help), [""; 0]);
    for wrong in [
        "`causeway keys create`",
        "`causeway key make`",
        "`causeway serve --emty`",
        "```sh\nls\ncauseway import irs a.csv --forse\n```",
        "```console\n$ echo x | causeway account creat ada\n```",
        "```sh\ncargo run -- server\n```",
    ] {
        assert_eq!(check(&document(wrong), &mut help).len(), 1, "{wrong}");
    }
}
