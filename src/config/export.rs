//! Writes the settings that differ from the defaults as a settings file, for backups.

use crate::config::sources::{DEFAULTS, Overrides, read_sources};
use anyhow::Context;
use config::{File, FileFormat, Map, Source, Value, ValueKind};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the settings of the file, the environment and the flags that differ from the defaults, as TOML.
pub fn changed_settings(overrides: &Overrides) -> anyhow::Result<String> {
    let defaults = File::from_str(DEFAULTS, FileFormat::Toml).collect()?;
    let mut settings = BTreeMap::new();
    flatten("", &read_sources(overrides)?.collect()?, &mut settings);
    let mut known = BTreeMap::new();
    flatten("", &defaults, &mut known);
    // Unknown variables of the environment are not settings.
    settings.retain(|name, value| known.get(name).is_some_and(|default| default != value));
    let mut text =
        "# The settings that differ from the defaults, from the file, the environment and the flags.\n"
            .to_owned();
    let mut section = String::new();
    for ((own_section, name), value) in &settings {
        if *own_section != section {
            write!(text, "\n[{own_section}]\n")?;
            section.clone_from(own_section);
        }
        writeln!(text, "{name} = {value}")?;
    }
    Ok(text)
}

/// Collects the values of a table as TOML, by section and name. The empty section comes first.
fn flatten(section: &str, table: &Map<String, Value>, into: &mut BTreeMap<(String, String), String>) {
    for (name, value) in table {
        match &value.kind {
            ValueKind::Table(inner) if section.is_empty() => flatten(name, inner, into),
            ValueKind::Table(inner) => flatten(&format!("{section}.{name}"), inner, into),
            kind => {
                if let Ok(text) = to_toml(kind) {
                    into.insert((section.to_owned(), name.clone()), text);
                }
            }
        }
    }
}

fn to_toml(kind: &ValueKind) -> anyhow::Result<String> {
    Ok(match kind {
        ValueKind::Boolean(value) => value.to_string(),
        ValueKind::I64(value) => value.to_string(),
        ValueKind::U64(value) => value.to_string(),
        ValueKind::Float(value) => format!("{value:?}"),
        // The escapes of JSON are valid in TOML.
        ValueKind::String(value) => serde_json::to_string(value)?,
        ValueKind::Array(values) => {
            let values = values.iter().map(|value| to_toml(&value.kind));
            let values: Vec<String> = values.collect::<anyhow::Result<_>>()?;
            format!("[{}]", values.join(", "))
        }
        _ => None.context("no setting has this type")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn only_changed_settings_are_written_and_they_can_be_read_back() {
        assert!(!changed_settings(&Overrides::default()).unwrap().contains('='));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.toml");
        let text = "security_contact = \"mailto:a\\\"b@example.org\"\n[limits]\nsearch = 7\ndetails = 100\n\
                    [serve]\ntrusted_proxies = [\"::1\", \"10.0.0.0/8\"]\nidle_timeout = 2.5\n";
        std::fs::write(&file, text).unwrap();
        let overrides = Overrides {
            config: Some(file.clone()),
            listen: Some("127.0.0.1:9000".to_owned()),
            ..Overrides::default()
        };
        let written = changed_settings(&overrides).unwrap();
        assert!(
            !written.contains("details") && written.contains("[serve]"),
            "{written}"
        );
        std::fs::write(&file, &written).unwrap();
        let read = Overrides {
            config: Some(file),
            ..Overrides::default()
        };
        let (first, second) = (Config::load(&overrides).unwrap(), Config::load(&read).unwrap());
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
        assert_eq!((second.limits.search, second.listen.port()), (7, 9000));
    }
}
