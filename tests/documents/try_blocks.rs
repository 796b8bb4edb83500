//! Runs the blocks marked `sh try` of a document, in order, against a server with the demo directory.

use crate::markdown::Document;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_causeway");
/// The addresses in the documents, which are those of the default settings.
const ADDRESS: &str = "127.0.0.1:8080";
const METRICS_ADDRESS: &str = "127.0.0.1:9464";
/// The American Red Cross.
const NONPROFIT: &str = "d9017b27-edb0-54b2-b0c1-533033c82832";

/// `curl` as the blocks call it: quiet, and failing on an error status.
const CURL: &str =
    "#!/bin/sh\nPATH=${PATH#*:} exec curl --silent --show-error --fail-with-body --max-time 600 \"$@\"\n";

/// Runs the blocks of a document and returns what went wrong.
pub fn run(document: &Document) -> Option<String> {
    let mut blocks = document.blocks();
    blocks.retain(|block| block.info == "sh try");
    if blocks.is_empty() {
        return None;
    }
    let blocks = blocks
        .iter()
        .map(|block| format!("echo '# line {}'\n{}", block.line, block.text));
    let script = blocks.collect::<Vec<_>>().join("\n");
    let demo = Demo::start();
    let script = script
        .replace(ADDRESS, &demo.address)
        .replace(METRICS_ADDRESS, &demo.metrics_address);
    let output = demo
        .command("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .envs(demo.variables())
        .output()
        .expect("bash runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (!output.status.success()).then(|| {
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        format!("{}: a try block failed\n{stdout}\n{stderr}", document.path)
    })
}

/// Blocks that are not run: `not-run.txt` names their documents and first lines, and says why.
pub struct NotRun<'a>(Vec<(&'a str, &'a str)>);

impl<'a> NotRun<'a> {
    pub fn read(list: &'a str) -> NotRun<'a> {
        let lines = list
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        NotRun(lines.map(parse_entry).collect())
    }

    /// Shell blocks that are neither run nor listed, and entries of blocks that no longer exist.
    pub fn check(&self, documents: &[Document]) -> Vec<String> {
        let mut problems = Vec::new();
        let mut listed = vec![false; self.0.len()];
        for document in documents {
            for block in document.blocks() {
                if !matches!(block.info, "sh" | "bash" | "console") {
                    continue;
                }
                let first = block.text.lines().next().unwrap_or_default();
                match self.0.iter().position(|entry| *entry == (&*document.path, first)) {
                    Some(index) => listed[index] = true,
                    None => problems.push(document.problem(
                        block.line,
                        "mark this block `sh try`, or add it to tests/documents/not-run.txt with the reason",
                    )),
                }
            }
        }
        for ((path, first), _) in self.0.iter().zip(listed).filter(|(_, is_listed)| !is_listed) {
            problems.push(format!(
                "tests/documents/not-run.txt: {path} has no block that starts with {first}"
            ));
        }
        problems
    }
}

fn parse_entry(line: &str) -> (&str, &str) {
    let parts: Vec<&str> = line.split('\t').collect();
    let [path, first, reason] = parts[..] else {
        panic!("not three parts: {line}")
    };
    assert!(!reason.trim().is_empty(), "no reason: {line}");
    (path, first)
}

/// A server with the demo directory, in a temporary folder.
struct Demo {
    folder: tempfile::TempDir,
    address: String,
    metrics_address: String,
    server: Child,
}

impl Demo {
    fn start() -> Demo {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let programs = folder.path().join("bin");
        fs::create_dir(&programs).expect("the folder is empty");
        symlink(BINARY, programs.join("causeway")).expect("the folder is empty");
        let curl = programs.join("curl");
        fs::write(&curl, CURL).expect("the folder can be written");
        fs::set_permissions(&curl, PermissionsExt::from_mode(0o755)).expect("the file is ours");
        let metrics_address = free_address();
        let mut server = command("causeway", folder.path())
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--metrics-listen",
                &metrics_address,
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("causeway starts");
        let output = server.stdout.take().expect("the output is piped");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let address = lines.find_map(|line| {
            let (_, address) = line.split_once("http://")?;
            Some(address.split(['/', ' ']).next()?.to_owned())
        });
        let Some(address) = address else {
            _ = server.kill();
            panic!("the server did not print its URL");
        };
        Demo {
            folder,
            address,
            metrics_address,
            server,
        }
    }

    fn command(&self, program: &str) -> Command {
        command(program, self.folder.path())
    }

    /// The variables that the documents use: keys of the demo account, a key to manage, and a fundraiser.
    fn variables(&self) -> [(&'static str, String); 4] {
        let field = |value: &Value, name: &str| value[name].as_str().expect("the field is text").to_owned();
        let key = |kind: &str| {
            json(self.command("causeway").args([
                "key",
                "create",
                "--json",
                "--account",
                "demo",
                "--kind",
                kind,
            ]))
        };
        let (public, private) = (field(&key("public"), "key"), field(&key("private"), "key"));
        let mut create = self.command("curl");
        create.args([
            "-u",
            &format!("{public}:{private}"),
            "-H",
            "Content-Type: application/json",
        ]);
        create.args([
            "-d",
            &format!(r#"{{"nonprofitId": "{NONPROFIT}", "title": "A fundraiser to change"}}"#),
        ]);
        let created = json(create.arg(format!("http://{}/v0.2/fundraiser", self.address)));
        [
            ("KEY_ID", field(&key("public"), "id")),
            ("FUNDRAISER_ID", field(&created["data"]["fundraiser"], "id")),
            ("KEY", public),
            ("PRIVATE_KEY", private),
        ]
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        _ = self.server.kill();
        _ = self.server.wait();
    }
}

/// A command in the folder that finds our programs first and uses the data folder in it.
fn command(program: &str, folder: &Path) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let programs = folder.join("bin");
    let program = match program {
        "causeway" | "curl" => programs.join(program),
        other => other.into(),
    };
    let mut command = Command::new(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CAUSEWAY_")) {
        command.env_remove(name);
    }
    command
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("CAUSEWAY_DATA", folder.join("data"));
    command
}

/// Runs a command that prints JSON.
fn json(command: &mut Command) -> Value {
    let output = command.output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| {
        let error = String::from_utf8_lossy(&output.stderr);
        panic!("{command:?} printed {text} {error}")
    })
}

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it is bound").to_string()
}

#[test]
fn a_failing_block_is_reported() {
    use crate::markdown::document;
    let good = document(
        "```sh try\ncurl http://127.0.0.1:8080/readyz\ntest -n \"$KEY_ID\"\n```\n```sh\nfalse\n```\n",
    );
    assert_eq!(run(&good), None);
    for wrong in [
        "causeway nonsense",
        "curl http://127.0.0.1:8080/v0.2/causes",
        "false | cat",
    ] {
        let problem = run(&document(&format!("```sh try\n{wrong}\n```\n")));
        assert!(problem.is_some(), "{wrong}");
    }
}

#[test]
fn a_block_that_is_neither_run_nor_listed_is_reported() {
    use crate::markdown::document;
    let documents = [document(
        "```sh\nmake run\n```\n```sh try\ntrue\n```\n```json\n{}\n```\n",
    )];
    let path = &documents[0].path;
    assert_eq!(NotRun::read("# nothing\n").check(&documents).len(), 1);
    let entry = format!("{path}\tmake run\tserves until it is stopped\n");
    assert!(NotRun::read(&entry).check(&documents).is_empty());
    let stale = format!("{entry}{path}\tmake all\ttakes minutes\n");
    assert_eq!(NotRun::read(&stale).check(&documents).len(), 1);
}
