//! The paths that a Rust file names: in `use` statements and in expressions.

/// One imported name.
pub struct Use {
    pub path: Vec<String>,
    /// The name under which it is known here.
    pub name: String,
    /// Whether it is a re-export (`pub use`).
    pub exported: bool,
}

/// Returns the `use` statements of a file, and its text without them. Statements of inline modules, which are tests, are
/// read as if they were one level up.
pub fn split_uses(text: &str) -> (Vec<Use>, String) {
    let mut uses = Vec::new();
    let mut rest = String::new();
    let mut statement: Option<String> = None;
    let mut is_inline = false;
    for line in text.lines() {
        if line.starts_with("mod ") && line.ends_with('{') {
            is_inline = true;
        } else if line == "}" {
            is_inline = false;
        }
        let trimmed = line.trim_start();
        let starts = ["use ", "pub use ", "pub(crate) use "];
        if statement.is_none() && starts.iter().any(|start| trimmed.starts_with(start)) {
            statement = Some(String::new());
        }
        let Some(open) = &mut statement else {
            let line = if is_inline {
                line.replace("super::", "self::")
            } else {
                line.to_owned()
            };
            rest.push_str(&line);
            rest.push('\n');
            continue;
        };
        open.push_str(trimmed);
        if trimmed.ends_with(';') {
            let whole = statement.take().unwrap_or_default();
            let exported = whole.starts_with("pub");
            let tree = whole
                .split_once("use ")
                .map_or("", |(_, tree)| tree)
                .trim_end_matches(';');
            for (mut path, name) in expand(tree) {
                if is_inline && path.first().is_some_and(|first| first == "super") {
                    "self".clone_into(&mut path[0]);
                }
                uses.push(Use { path, name, exported });
            }
        }
    }
    (uses, rest)
}

/// Returns every path of a use tree with the name it gets: `a::{b, c as d}` is `a::b` and `a::c`.
fn expand(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some((prefix, group)) = tree.split_once('{') {
        let group = group.trim().trim_end_matches('}');
        let group = if group.matches('{').count() > group.matches('}').count() {
            format!("{group}}}")
        } else {
            group.to_owned()
        };
        let mut depth = 0;
        let parts = group.split(|sign: char| {
            depth += i32::from(sign == '{') - i32::from(sign == '}');
            sign == ',' && depth == 0
        });
        return parts
            .filter(|part| !part.trim().is_empty())
            .flat_map(|part| expand(&format!("{prefix}{}", part.trim())))
            .collect();
    }
    let (path, alias) = tree
        .split_once(" as ")
        .map_or((tree, None), |(path, alias)| (path, Some(alias)));
    let mut path: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
    path.retain(|part| !part.is_empty() && part != "*");
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = alias.map(str::trim).map(str::to_owned);
    let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
    vec![(path, name)]
}

/// Returns the paths of two or more parts in expressions and types.
pub fn paths_in(code: &str) -> Vec<Vec<String>> {
    let is_path = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == ':';
    code.split(|sign: char| !is_path(sign))
        .filter(|word| word.contains("::") && !word.starts_with("::"))
        .map(|word| {
            word.split("::")
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect()
        })
        .filter(|path: &Vec<String>| !path.is_empty())
        .collect()
}
