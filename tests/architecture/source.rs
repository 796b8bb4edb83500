//! Source files, split into code and string literals.

use std::fs;
use std::path::Path;

/// A Rust file.
pub struct Source {
    /// The path from the root of the repository.
    pub path: String,
    /// The text without comments, and with empty string literals. It has as many lines as the file.
    pub code: String,
    /// The string literals, each with the number of its first line.
    pub strings: Vec<(usize, String)>,
}

impl Source {
    pub fn parse(path: &str, text: &str) -> Source {
        let (code, strings) = lex(text);
        Source {
            path: path.to_owned(),
            code,
            strings,
        }
    }
}

/// Returns the text of all files below a folder whose names have an extension, with their paths from the root of the
/// repository.
pub fn read_files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    add_files(&root().join(folder), extension, &mut files);
    assert!(!files.is_empty(), "no .{extension} file in {folder}");
    files.sort();
    files
}

/// Returns the root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn add_files(folder: &Path, extension: &str, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let is_built = path.ends_with("target") || path.ends_with("node_modules");
            if !is_built {
                add_files(&path, extension, files);
            }
        } else if path.extension().is_some_and(|other| other == extension) {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(root()).unwrap().to_str().unwrap();
            files.push((path.replace('\\', "/"), text));
        }
    }
}

/// Returns the names of the crates in `crates/`.
pub fn crate_names() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Returns the Rust files of a package without its unit tests.
pub fn read_sources(folder: &str) -> Vec<Source> {
    let files = read_files(folder, "rs");
    let tests: Vec<String> = files
        .iter()
        .flat_map(|(path, text)| test_modules(path, text))
        .collect();
    let is_test = |path: &str| tests.iter().any(|test| path.starts_with(test.as_str()));
    files
        .iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| Source::parse(path, &without_tests(text)))
        .collect()
}

/// Returns the paths of the modules that a file declares for tests only, each as a file and as a folder.
fn test_modules(path: &str, text: &str) -> Vec<String> {
    let module = path.trim_end_matches(".rs");
    let folder = ["/mod", "/lib"]
        .iter()
        .find_map(|end| module.strip_suffix(end))
        .unwrap_or(module);
    let lines: Vec<&str> = text.lines().collect();
    let declared = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
    declared
        .filter_map(|pair| pair[1].strip_prefix("mod ")?.strip_suffix(';'))
        .flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/")])
        .collect()
}

/// Replaces the lines of inline test modules by empty ones.
fn without_tests(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut is_test = false;
    for index in 0..lines.len() {
        let next = lines.get(index + 1).copied().unwrap_or_default();
        is_test |= lines[index] == "#[cfg(test)]" && next.starts_with("mod ") && next.ends_with('{');
        if is_test {
            is_test = lines[index] != "}";
            lines[index] = "";
        }
    }
    lines.join("\n")
}

/// Splits Rust into code and string literals.
fn lex(text: &str) -> (String, Vec<(usize, String)>) {
    let (mut code, mut strings) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let is_word_before = code.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let (length, literal) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if rest.starts_with("/*") {
            (block_comment_length(rest), None)
        } else if let Some((length, literal)) = raw_string(rest).filter(|_| !is_word_before) {
            (length, Some(literal))
        } else if first == '"' {
            let (length, literal) = string(rest);
            (length, Some(literal))
        } else {
            let length = if first == '\'' {
                char_length(rest)
            } else {
                first.len_utf8()
            };
            code.push_str(&rest[..length]);
            line += usize::from(first == '\n');
            rest = &rest[length..];
            continue;
        };
        let skipped = &rest[..length];
        if let Some(literal) = literal {
            strings.push((line, literal));
            code.push_str("\"\"");
        }
        let newlines = skipped.matches('\n').count();
        code.extend(std::iter::repeat_n('\n', newlines));
        line += newlines;
        rest = &rest[length..];
    }
    (code, strings)
}

fn block_comment_length(text: &str) -> usize {
    let mut depth = 0;
    let mut index = 0;
    while index < text.len() {
        let rest = &text.as_bytes()[index..];
        if rest.starts_with(b"/*") {
            depth += 1;
            index += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            index += 2;
            if depth == 0 {
                return index;
            }
        } else {
            index += 1;
        }
    }
    text.len()
}

/// Returns the length and the content of a raw string at the start of the text: `r"…"`, `r#"…"#` or `br"…"`.
fn raw_string(text: &str) -> Option<(usize, String)> {
    let start = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let hashes = start.len() - start.trim_start_matches('#').len();
    let content = start[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", &start[..hashes]);
    let length = content.find(&end)?;
    Some((
        text.len() - content.len() + length + end.len(),
        content[..length].to_owned(),
    ))
}

/// Returns the length and the content of a string literal at the start of the text. The content ends at the first quote
/// without a backslash, and lacks the line breaks that a backslash hides.
fn string(text: &str) -> (usize, String) {
    let mut content = String::new();
    let mut signs = text.char_indices().skip(1).peekable();
    while let Some((index, sign)) = signs.next() {
        match sign {
            '"' => return (index + 1, content),
            '\\' => match signs.next() {
                Some((_, '\n')) => while signs.next_if(|(_, sign)| sign.is_whitespace()).is_some() {},
                Some((_, escaped @ ('"' | '\\'))) => content.push(escaped),
                Some(_) => content.push(' '),
                None => {}
            },
            _ => content.push(sign),
        }
    }
    (text.len(), content)
}

/// Returns the length of a character literal, or of the quote of a lifetime.
fn char_length(text: &str) -> usize {
    let mut signs = text.char_indices().skip(1);
    match (signs.next(), signs.next()) {
        (Some((_, '\\')), Some(_)) => text[3..].find('\'').map_or(text.len(), |end| end + 4),
        (Some(_), Some((index, '\''))) => index + 1,
        _ => 1,
    }
}

#[test]
fn strings_comments_and_characters_are_told_apart() {
    let text = "let a = \"one \\\"two\\\" // three\"; // \"four\"\n\
                let b = ('\"', '\\'', 'x'); /* \"five\" /* six */ */ fn f<'a>() { r#\"se\"ven\"#; }\n\
                const SQL: &str = \"select 1 \\\n    from t\";\nlet c = \"last\";";
    let source = Source::parse("a.rs", text);
    assert_eq!(
        source.strings,
        [
            (1, "one \"two\" // three".to_owned()),
            (2, "se\"ven".to_owned()),
            (3, "select 1 from t".to_owned()),
            (5, "last".to_owned()),
        ]
    );
    assert_eq!(source.code.lines().count(), text.lines().count());
    assert!(source.code.contains("('\"', '\\'', 'x')"), "{}", source.code);
    assert!(!source.code.contains("six"));
}

#[test]
fn unit_tests_are_left_out() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}";
    assert_eq!(without_tests(text), "fn a() {}\n\n\n\n\nfn c() {}");
}

#[test]
fn modules_for_tests_are_left_out() {
    let text = "mod a;\n#[cfg(test)]\nmod b;\n#[cfg(test)]\nmod c {\n}";
    let found = |path: &str| test_modules(path, text);
    assert_eq!(
        found("crates/x/src/lib.rs"),
        ["crates/x/src/b.rs", "crates/x/src/b/"]
    );
    assert_eq!(
        found("crates/x/src/y.rs"),
        ["crates/x/src/y/b.rs", "crates/x/src/y/b/"]
    );
}
