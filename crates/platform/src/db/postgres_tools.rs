//! Runs `pg_dump` and `pg_restore`, the programs with which PostgreSQL is backed up.

use anyhow::{Context, bail};
use percent_encoding::percent_decode_str;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder in which Debian installs PostgreSQL, one folder per version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// A parameter in URLs that only our driver knows.
const DRIVER_PARAMETER: &str = "statement-cache-capacity";

/// A program of PostgreSQL and its major version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tool {
    path: PathBuf,
    pub version: u32,
}

impl Tool {
    /// Finds the oldest installed version of a program that is not older than `version`. Blocks.
    pub(super) fn find(name: &str, version: u32) -> anyhow::Result<Tool> {
        let folders = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
        let installed = folders.map(|folder| folder.path().join("bin").join(name));
        let tools = installed.chain([PathBuf::from(name)]).filter_map(|path| {
            let version = version_of(&path)?;
            Some(Tool { path, version })
        });
        choose(tools.collect(), name, version)
    }

    /// Runs the program for the database of a URL. The password is passed in the environment, where other users
    /// cannot see it. Blocks.
    pub(super) fn run(&self, url: &str, arguments: &[&str]) -> anyhow::Result<()> {
        let (url, password) = split_password(url);
        let mut command = Command::new(&self.path);
        command
            .arg("--dbname")
            .arg(url)
            .arg("--no-password")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if let Some(password) = password {
            command.env("PGPASSWORD", password);
        }
        let name = self.path.display();
        let output = command
            .output()
            .with_context(|| format!("could not run {name}"))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let reason = stderr.lines().find(|line| line.contains("error:"));
            let reason = reason.or(stderr.lines().last()).unwrap_or("it printed nothing");
            bail!("{name} failed: {}", reason.replace("; ", ", "));
        }
        Ok(())
    }
}

fn choose(mut tools: Vec<Tool>, name: &str, version: u32) -> anyhow::Result<Tool> {
    tools.sort_by_key(|tool| tool.version);
    if let Some(tool) = tools.iter().find(|tool| tool.version >= version) {
        return Ok(tool.clone());
    }
    match tools.last() {
        None => bail!(
            "{name} is not installed; install the PostgreSQL client, version {version} (on Debian: \
             postgresql-client-{version})"
        ),
        Some(newest) => bail!(
            "{name} has version {}, which is too old for PostgreSQL {version}; install version {version} (on Debian: \
             postgresql-client-{version})",
            newest.version
        ),
    }
}

fn version_of(path: &Path) -> Option<u32> {
    let output = Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
}

/// Reads the major version from `pg_dump (PostgreSQL) 17.6 (Debian 17.6-1)`.
fn parse_version(text: &str) -> Option<u32> {
    let (_, version) = text.split_once("(PostgreSQL) ")?;
    let end = version.find(|letter: char| !letter.is_ascii_digit())?;
    version[..end].parse().ok()
}

/// Separates the password from a URL.
fn split_password(url: &str) -> (String, Option<String>) {
    let (url, query) = url.split_once('?').unwrap_or((url, ""));
    let mut password = None;
    let mut bare = url.to_owned();
    if let Some((scheme, rest)) = url.split_once("://") {
        let end = rest.find('/').unwrap_or(rest.len());
        if let Some((user_info, _)) = rest[..end].rsplit_once('@')
            && let Some((user, secret)) = user_info.split_once(':')
        {
            password = Some(secret);
            bare = format!("{scheme}://{user}{}", &rest[user_info.len()..]);
        }
    }
    let mut separator = '?';
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("password", secret)) => password = Some(secret),
            Some((DRIVER_PARAMETER, _)) => {}
            _ => {
                bare.push(separator);
                bare.push_str(parameter);
                separator = '&';
            }
        }
    }
    let decode = |secret| percent_decode_str(secret).decode_utf8_lossy().into_owned();
    (bare, password.map(decode))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(version: u32) -> Tool {
        Tool {
            path: format!("/{version}/pg_dump").into(),
            version,
        }
    }

    #[test]
    fn the_oldest_version_that_is_new_enough_is_chosen() {
        let installed = || vec![tool(18), tool(15), tool(17)];
        for (server, chosen) in [(15, 15), (16, 17), (17, 17), (18, 18)] {
            assert_eq!(choose(installed(), "pg_dump", server).unwrap(), tool(chosen));
        }
        let error = choose(installed(), "pg_dump", 19).unwrap_err().to_string();
        assert!(error.contains("version 18, which is too old"), "{error}");
        let error = choose(Vec::new(), "pg_dump", 17).unwrap_err().to_string();
        assert!(error.contains("postgresql-client-17"), "{error}");
    }

    #[test]
    fn versions_are_read_from_the_output_of_the_program() {
        assert_eq!(
            parse_version("pg_dump (PostgreSQL) 17.6 (Debian 17.6-0+deb13u1)\n"),
            Some(17)
        );
        assert_eq!(parse_version("pg_restore (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(parse_version("something else"), None);
    }

    #[test]
    fn a_password_is_never_an_argument() {
        for (url, bare, password) in [
            ("postgres://a:p%40s@h:5/d", "postgres://a@h:5/d", Some("p@s")),
            ("postgres://a@h/d", "postgres://a@h/d", None),
            ("postgres://h/d?x=a:b@c", "postgres://h/d?x=a:b@c", None),
            (
                "postgres:///d?host=/run&password=s&statement-cache-capacity=0&sslmode=require",
                "postgres:///d?host=/run&sslmode=require",
                Some("s"),
            ),
        ] {
            let expected = (bare.to_owned(), password.map(str::to_owned));
            assert_eq!(split_password(url), expected, "{url}");
        }
    }
}
