//! The files that the settings in `[site]` name: the logo and the legal texts.

use crate::config::SiteSettings;
use anyhow::{Context, bail};
use pictures::picture::{self, CleanPicture};
use std::path::Path;

/// The width in pixels to which larger logos are shrunk.
const MAX_LOGO_WIDTH: u32 = 480;
/// The maximum size of a text in bytes. Pages have at most twice as many bytes of HTML.
const MAX_TEXT_BYTES: u64 = 128 * 1_024;
/// The maximum size of a logo in bytes.
const MAX_LOGO_BYTES: u64 = 10 * 1_024 * 1_024;

/// The contents of the files. The texts are Markdown.
#[derive(Debug, Default)]
pub struct SiteFiles {
    pub logo: Option<CleanPicture>,
    pub privacy: Option<String>,
    pub terms: Option<String>,
    pub about: Option<String>,
}

impl SiteFiles {
    /// Reads the files. An error names the setting and says what to do.
    pub fn read(settings: &SiteSettings) -> anyhow::Result<SiteFiles> {
        Ok(SiteFiles {
            logo: read_logo(settings.logo.as_deref())?,
            privacy: read_text("site.privacy_file", settings.privacy_file.as_deref())?,
            terms: read_text("site.terms_file", settings.terms_file.as_deref())?,
            about: read_text("site.about_file", settings.about_file.as_deref())?,
        })
    }
}

fn read(setting: &str, path: &Path, max_bytes: u64) -> anyhow::Result<Vec<u8>> {
    let problem = || {
        format!(
            "{setting} is {}, which cannot be read; set it to an existing file, or leave it empty",
            path.display()
        )
    };
    let size = std::fs::metadata(path).with_context(problem)?.len();
    if size > max_bytes {
        bail!(
            "{setting} is {}, which has {size} bytes; use a file of at most {max_bytes} bytes",
            path.display()
        );
    }
    std::fs::read(path).with_context(problem)
}

fn read_logo(path: Option<&Path>) -> anyhow::Result<Option<CleanPicture>> {
    let Some(path) = path else { return Ok(None) };
    let bytes = read("site.logo", path, MAX_LOGO_BYTES)?;
    let problem = || {
        format!(
            "site.logo is {}, which is not a usable picture; use a PNG, JPEG or WebP file",
            path.display()
        )
    };
    let clean = picture::clean(&bytes).with_context(problem)?;
    let smaller = picture::shrink_to_width(&clean.bytes, MAX_LOGO_WIDTH).with_context(problem)?;
    Ok(Some(smaller.unwrap_or(clean)))
}

fn read_text(setting: &str, path: Option<&Path>) -> anyhow::Result<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    let bytes = read(setting, path, MAX_TEXT_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        anyhow::anyhow!(
            "{setting} is {}, which is not UTF-8 text; save it as UTF-8",
            path.display()
        )
    })?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn settings(change: impl FnOnce(&mut SiteSettings)) -> SiteSettings {
        let mut settings = SiteSettings::default();
        change(&mut settings);
        settings
    }

    #[test]
    fn a_missing_or_unusable_file_is_an_error_that_names_the_setting() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("text.md");
        std::fs::write(&text, [0xff, 0xfe]).unwrap();
        let none = folder.path().join("none.md");
        let some = |path: &PathBuf| Some(path.clone());
        for (settings, expected) in [
            (settings(|site| site.logo = some(&none)), "site.logo"),
            (settings(|site| site.logo = some(&text)), "PNG, JPEG or WebP"),
            (
                settings(|site| site.privacy_file = some(&none)),
                "site.privacy_file",
            ),
            (settings(|site| site.terms_file = some(&text)), "UTF-8"),
        ] {
            let error = SiteFiles::read(&settings).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn texts_are_read_and_empty_ones_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let (about, terms) = (folder.path().join("about.md"), folder.path().join("terms.md"));
        std::fs::write(&about, "# Us\n").unwrap();
        std::fs::write(&terms, " \n").unwrap();
        let files = SiteFiles::read(&settings(|site| {
            site.about_file = Some(about);
            site.terms_file = Some(terms);
        }))
        .unwrap();
        assert_eq!(files.about.as_deref(), Some("# Us\n"));
        assert_eq!((files.terms, files.privacy), (None, None));
    }
}
