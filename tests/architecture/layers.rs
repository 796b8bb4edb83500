//! The layers of ARCHITECTURE.md: dependencies point down, files form no cycles, and only the root package and the simulator
//! know the web framework.
//!
//! The check follows `use` statements and path expressions (`crate::`, `super::`, `self::` and the names of our crates)
//! to the file that they name, through re-exports.

use crate::graph::{Graph, cycles};
use crate::imports::{paths_in, split_uses};
use crate::source::{Source, crate_names, read_files, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The layers from the bottom up. Layers on one line do not use each other.
const LAYERS: &[&[&str]] = &[
    &["search", "pictures", "listener"],
    &["platform"],
    &["access", "directory"],
    &["giving", "ingest"],
    &["config"],
    &["app"],
    &["http"],
    &["web"],
    &["api", "site", "dashboard"],
    &["server"],
    &["cli"],
    &["main"],
];

/// Libraries that only the root package may use.
const ROOT_ONLY: &[&str] = &[
    "axum",
    "axum-extra",
    "askama",
    "utoipa",
    "utoipa-axum",
    "tower-http",
];

/// Layers of the root package that may use the listener, which is in the bottom layer but handles requests.
const KNOW_LISTENER: &[&str] = &["config", "app", "http", "server", "cli"];

/// The source of one crate: module paths (`db::open`) and their text.
#[derive(Default)]
struct Crate {
    name: String,
    files: BTreeMap<Vec<String>, String>,
}

/// A source file: its crate and its module path.
type File = (String, Vec<String>);

/// The source of all crates.
#[derive(Default)]
struct Tree {
    crates: Vec<Crate>,
}

impl Tree {
    /// Reads the source of the root package and of all crates.
    fn read() -> Tree {
        let mut tree = Tree::default();
        tree.add("causeway", "src");
        for name in crate_names() {
            tree.add(&name, &format!("crates/{name}/src"));
        }
        tree
    }

    fn add(&mut self, name: &str, folder: &str) {
        let files = read_files(folder, "rs").into_iter();
        let files = files.map(|(path, text)| {
            let path = path.strip_prefix(folder).unwrap_or(&path).trim_start_matches('/');
            (module_of(path), Source::parse(path, &text).code)
        });
        self.crates.push(Crate {
            name: name.to_owned(),
            files: files.collect(),
        });
    }

    /// Creates a tree for a test: `("causeway", "api::search", "use crate::…;")`.
    fn planted(files: &[(&str, &str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (name, module, text) in files {
            let module = module
                .split("::")
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect();
            let index = tree.crates.iter().position(|source| source.name == *name);
            let index = index.unwrap_or_else(|| {
                tree.crates.push(Crate {
                    name: (*name).to_owned(),
                    ..Crate::default()
                });
                tree.crates.len() - 1
            });
            tree.crates[index]
                .files
                .insert(module, Source::parse("", text).code);
        }
        tree
    }

    fn find(&self, name: &str) -> Option<&Crate> {
        self.crates.iter().find(|source| source.name == name)
    }

    /// Returns all dependencies between files.
    fn dependencies(&self) -> Graph<File> {
        let mut dependencies = BTreeMap::new();
        for source in &self.crates {
            for (module, text) in &source.files {
                let file = (source.name.clone(), module.clone());
                let mut targets = self.targets(source, module, text);
                targets.remove(&file);
                dependencies.insert(file, targets);
            }
        }
        dependencies
    }

    /// Returns the files that the paths in one file name.
    fn targets(&self, source: &Crate, module: &[String], text: &str) -> BTreeSet<File> {
        let mut targets = BTreeSet::new();
        let (uses, rest) = split_uses(text);
        for path in uses
            .iter()
            .filter(|found| !found.exported)
            .map(|found| &found.path)
        {
            targets.extend(self.resolve(source, module, path, 0));
        }
        for path in paths_in(&rest) {
            targets.extend(self.resolve(source, module, &path, 0));
        }
        targets
    }

    /// Returns the file that a path in a module names, or `None` for a path into another library.
    fn resolve(&self, source: &Crate, module: &[String], path: &[String], depth: usize) -> Option<File> {
        let mut base = module.to_vec();
        let mut rest = path;
        let mut owner = source;
        match path.first()?.as_str() {
            "crate" => {
                base.clear();
                rest = &path[1..];
            }
            "self" | "super" => {
                while let Some(part @ ("self" | "super")) = rest.first().map(String::as_str) {
                    if part == "super" {
                        base.pop();
                    }
                    rest = &rest[1..];
                }
            }
            name => {
                let mut child = base.clone();
                child.push(name.to_owned());
                if !source.files.contains_key(&child) {
                    owner = self.find(name)?;
                    base.clear();
                    rest = &path[1..];
                }
            }
        }
        let mut absolute = base;
        absolute.extend(rest.iter().cloned());
        let known = (0..=absolute.len())
            .rev()
            .find(|&length| owner.files.contains_key(&absolute[..length]))?;
        let file = absolute[..known].to_vec();
        // An item that the file only re-exports lives elsewhere.
        if let Some(item) = absolute.get(known)
            && depth < 8
        {
            let (uses, _) = split_uses(&owner.files[&file]);
            let exported = uses
                .iter()
                .find(|found| found.exported && found.name == *item && !found.path.is_empty());
            if let Some(exported) = exported {
                return self.resolve(owner, &file, &exported.path, depth + 1);
            }
        }
        Some((owner.name.clone(), file))
    }

    /// Returns a line for each dependency that is not allowed.
    fn violations(&self) -> Vec<String> {
        let dependencies = self.dependencies();
        let mut found = Vec::new();
        for (from, targets) in &dependencies {
            let Some((rank, layer)) = layer_of(from) else {
                continue;
            };
            for to in targets {
                let Some((target_rank, target)) = layer_of(to) else {
                    continue;
                };
                let is_listener = target == "listener" && !KNOW_LISTENER.contains(&layer);
                if layer != target && (target_rank >= rank || is_listener) {
                    found.push(format!(
                        "{layer} must not use {target}: {} -> {}",
                        shown(from),
                        shown(to)
                    ));
                }
            }
        }
        for cycle in cycles(&dependencies) {
            let files: Vec<String> = cycle.iter().map(shown).collect();
            found.push(format!("files use each other in a cycle: {}", files.join(", ")));
        }
        found
    }
}

/// Returns the layer of a file and its rank, or `None` for `lib.rs` of the root package, which only lists modules.
fn layer_of((name, module): &File) -> Option<(usize, &str)> {
    let layer = if name == "causeway" { module.first()? } else { name };
    let rank = LAYERS.iter().position(|line| line.contains(&layer.as_str()));
    Some((
        rank.unwrap_or_else(|| panic!("{} belongs to no layer", shown(&(name.clone(), module.clone())))),
        layer,
    ))
}

fn shown((name, module): &File) -> String {
    format!("{name}::{}", module.join("::"))
}

/// Returns the module path of a file: `db/mod.rs` is `db`, and `db/open.rs` is `db::open`.
fn module_of(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = path
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if parts
        .last()
        .is_some_and(|last| matches!(last.as_str(), "mod" | "lib"))
    {
        parts.pop();
    }
    parts
}

/// Returns the dependencies in a manifest, except those of tests.
fn manifest_dependencies(manifest: &str) -> Vec<&str> {
    let mut is_open = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_open = line.contains("dependencies]") && !line.contains("dev-dependencies");
        } else if is_open && let Some((name, _)) = line.split_once(['=', '.']) {
            names.push(name.trim());
        }
    }
    names
}

/// Returns a line for each dependency that the manifest of a crate may not have.
fn manifest_violations(name: &str, manifest: &str) -> Vec<String> {
    let rank = |layer: &str| LAYERS.iter().position(|line| line.contains(&layer));
    // A folder of the root package may have the name of a library, such as `http`.
    let crates = crate_names();
    let is_above = |dependency: &str| {
        crates.iter().any(|name| name == dependency)
            && rank(dependency).is_some_and(|other| Some(other) >= rank(name))
    };
    let forbidden = manifest_dependencies(manifest)
        .into_iter()
        .filter(|dependency| ROOT_ONLY.contains(dependency) || is_above(dependency));
    forbidden
        .map(|dependency| format!("crates/{name} must not depend on {dependency}"))
        .collect()
}

#[test]
fn dependencies_point_down_and_files_form_no_cycles() {
    let found = Tree::read().violations();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn only_the_root_package_depends_on_the_web_framework() {
    let mut found = Vec::new();
    for name in crate_names() {
        let manifest = fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).unwrap();
        found.extend(manifest_violations(&name, &manifest));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_files_of_the_simulator_form_no_cycles() {
    let mut tree = Tree::default();
    tree.add("stripe_simulator", "simulators/stripe/src");
    let found = cycles(&tree.dependencies());
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn nothing_that_is_shipped_depends_on_the_simulator() {
    let crates = crate_names().into_iter();
    let crates = crates.map(|name| format!("crates/{name}/Cargo.toml"));
    for path in crates.chain(["Cargo.toml".to_owned()]) {
        let manifest = fs::read_to_string(root().join(&path)).unwrap();
        // The list of the workspace names versions; tests may use the simulator.
        let shipped = manifest.split("[workspace.dependencies]").last().unwrap();
        let shipped = shipped
            .split_once("[package]")
            .map_or(shipped, |(_, package)| package);
        let found = manifest_dependencies(shipped).contains(&"stripe-simulator");
        assert!(
            !found,
            "{path} must not depend on stripe-simulator outside of its tests"
        );
    }
}

#[test]
fn a_planted_upward_dependency_is_found() {
    let tree = Tree::planted(&[
        ("causeway", "http::error", "use crate::site::search::page;"),
        ("causeway", "site::search", "pub fn page() {}"),
    ]);
    assert_eq!(
        tree.violations(),
        ["http must not use site: causeway::http::error -> causeway::site::search"]
    );
    let tree = Tree::planted(&[
        (
            "causeway",
            "api::search",
            "fn answer() { crate::site::search::page(); }",
        ),
        ("causeway", "site::search", "pub fn page() {}"),
    ]);
    assert_eq!(tree.violations().len(), 1);
    let tree = Tree::planted(&[
        ("platform", "db", "use giving::Cents;"),
        ("giving", "", "pub struct Cents;"),
    ]);
    assert_eq!(
        tree.violations(),
        ["platform must not use giving: platform::db -> giving::"]
    );
}

#[test]
fn a_planted_cycle_is_found_through_parents_and_re_exports() {
    let tree = Tree::planted(&[
        (
            "giving",
            "ledger",
            "pub mod entry;\npub use entry::Entry;\nuse self::writer::Writer;",
        ),
        ("giving", "ledger::entry", "pub struct Entry;"),
        ("giving", "ledger::writer", "use super::Entry;"),
    ]);
    assert!(
        tree.violations().is_empty(),
        "a re-export is followed to the file behind it"
    );
    let tree = Tree::planted(&[
        ("giving", "ledger", "pub struct Entry;\nuse self::writer::Writer;"),
        ("giving", "ledger::writer", "use super::Entry;"),
    ]);
    assert_eq!(
        tree.violations(),
        ["files use each other in a cycle: giving::ledger, giving::ledger::writer"]
    );
    let tree = Tree::planted(&[
        ("search", "trie", "use crate::{rank::{Score, Weight}, words};"),
        ("search", "rank", "fn score() { super::words::split(); }"),
        ("search", "words", "use crate::trie::Trie;"),
    ]);
    assert_eq!(tree.violations().len(), 1);
}

#[test]
fn a_planted_web_framework_below_the_root_is_found() {
    let manifest = "[package]\nname = \"access\"\n[dependencies]\naxum.workspace = true\nplatform = { path = \"../platform\" }\n\
                    [dev-dependencies]\nproptest.workspace = true\n";
    assert_eq!(
        manifest_violations("access", manifest),
        ["crates/access must not depend on axum"]
    );
    let manifest = "[dependencies]\ngiving.workspace = true\n";
    assert_eq!(
        manifest_violations("directory", manifest),
        ["crates/directory must not depend on giving"]
    );
}
