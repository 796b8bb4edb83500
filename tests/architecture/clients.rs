//! The modules of the clients form no cycles. Generated code is left out: nobody edits it.

use crate::graph::{Graph, cycles};
use crate::source::read_files;
use std::collections::BTreeSet;

/// A module: its path without the extension.
type Module = String;

/// Returns the imports between modules. `imports` lists, for each import of a module, the files that it may name, and the
/// first one that exists is meant.
fn graph(files: &[(String, String)], imports: fn(&str, &str) -> Vec<Vec<Module>>) -> Graph<Module> {
    let module = |path: &str| {
        path.rsplit_once('.')
            .map_or(path, |(module, _)| module)
            .to_owned()
    };
    let known: BTreeSet<Module> = files.iter().map(|(path, _)| module(path)).collect();
    let edges = files.iter().map(|(path, text)| {
        let module = module(path);
        let candidates = imports(&module, text).into_iter();
        let targets = candidates
            .filter_map(|candidates| candidates.into_iter().find(|target| known.contains(target)))
            .filter(|target| *target != module);
        (module.clone(), targets.collect())
    });
    edges.collect()
}

/// Returns the modules that a TypeScript module imports or re-exports: `… from './pages.js'`, `import './pages.js'`.
fn typescript_imports(module: &str, text: &str) -> Vec<Vec<Module>> {
    let folder = parent(module);
    let quoted = |after: &str| {
        let quote = after.chars().next().filter(|sign| matches!(sign, '\'' | '"'))?;
        let name = after[1..].split(quote).next()?;
        let name = name.strip_suffix(".js").unwrap_or(name);
        name.starts_with('.').then(|| resolve(folder, name))
    };
    let words = ["from ", "import ", "import("];
    let places = words.iter().flat_map(|word| text.match_indices(word));
    places
        .filter_map(|(index, word)| quoted(&text[index + word.len()..]))
        .map(|target| vec![format!("{target}/index"), target])
        .collect()
}

/// Returns the modules that a Python module imports relative to itself: `from .pages import Pages`, `from . import pages`.
fn python_imports(module: &str, text: &str) -> Vec<Vec<Module>> {
    let mut modules = Vec::new();
    for (index, _) in text.match_indices("from .") {
        let statement = &text[index + "from ".len()..];
        let Some((from, names)) = statement.split_once(" import ") else {
            continue;
        };
        let dots = from.len() - from.trim_start_matches('.').len();
        let mut package = module;
        for _ in 0..dots {
            package = parent(package);
        }
        let path = from[dots..].replace('.', "/");
        let package = format!("{package}/{path}").trim_end_matches('/').to_owned();
        let names = match names.strip_prefix('(') {
            Some(list) => list.split(')').next(),
            None => names.lines().next(),
        };
        // A name is a module of the package, or something that the package defines.
        let names = names.unwrap_or_default().split(',');
        let names = names.filter_map(|name| name.split_whitespace().next());
        modules.extend(names.map(|name| {
            vec![
                format!("{package}/{name}"),
                format!("{package}/{name}/__init__"),
                format!("{package}/__init__"),
                package.clone(),
            ]
        }));
    }
    modules
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Resolves `./a` and `../a` in a folder.
fn resolve(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn violations(graph: &Graph<Module>) -> Vec<String> {
    let groups = cycles(graph).into_iter();
    groups
        .map(|group| format!("modules import each other in a cycle: {}", group.join(", ")))
        .collect()
}

/// Returns the files of a client that people edit.
fn written_files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let mut files = read_files(folder, extension);
    files.retain(|(path, _)| !path.contains("generated/"));
    files
}

#[test]
fn the_modules_of_the_typescript_client_form_no_cycles() {
    let found = violations(&graph(
        &written_files("clients/typescript/src", "ts"),
        typescript_imports,
    ));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_modules_of_the_python_client_form_no_cycles() {
    let found = violations(&graph(&written_files("clients/python/src", "py"), python_imports));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn planted(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let files = files.iter();
    files
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

#[test]
fn a_planted_cycle_of_typescript_modules_is_found() {
    let files = planted(&[
        (
            "src/client.ts",
            "import {\n  Search,\n} from './search/index.js';",
        ),
        ("src/search/index.ts", "export * from './state.js';"),
        (
            "src/search/state.ts",
            "import type { Client } from \"../client.js\";\nimport 'react';",
        ),
        ("src/errors.ts", "throw new Error('from ./client.js');"),
    ]);
    assert_eq!(
        violations(&graph(&files, typescript_imports)),
        ["modules import each other in a cycle: src/client, src/search/index, src/search/state"]
    );
}

#[test]
fn a_planted_cycle_of_python_modules_is_found() {
    let files = planted(&[
        ("causeway/__init__.py", "from .client import Client as Client"),
        (
            "causeway/client.py",
            "from . import (\n    _calls as calls,\n    errors,\n)\nfrom .search import Search",
        ),
        (
            "causeway/search.py",
            "if TYPE_CHECKING:\n    from .client import Client\n",
        ),
        ("causeway/errors.py", "import httpx"),
        ("causeway/_calls.py", "from .errors import Problem"),
    ]);
    assert_eq!(
        violations(&graph(&files, python_imports)),
        ["modules import each other in a cycle: causeway/client, causeway/search",]
    );
}
