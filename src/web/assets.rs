//! The stylesheet, fonts, scripts and icon of the site, compiled into the binary, and the logo of the operator.
//!
//! The URL of an asset contains a hash of its content, so browsers can cache it forever.

use crate::app::compressible_text::CompressibleText;
use crate::config::AccentColor;
use axum::body::Bytes;
use std::sync::LazyLock;

/// The name of the stylesheet.
pub const STYLESHEET: &str = "causeway.css";
/// The fonts of texts and of headings.
pub const FONTS: [&str; 2] = ["figtree.woff2", "fraunces.woff2"];

/// A file that pages refer to.
#[derive(Debug)]
pub struct Asset {
    pub name: &'static str,
    pub media_type: &'static str,
    pub content: CompressibleText,
    url: String,
}

macro_rules! asset {
    ($name:literal, $folder:literal, $media_type:literal) => {
        Asset::new(
            $name,
            $media_type,
            Bytes::from_static(include_bytes!(concat!("../../assets/", $folder, $name))),
        )
    };
}

/// One stylesheet for browsers, in parts for us. The order matters: later rules win. Where it refers to another asset, it
/// has `asset:` and the name of it.
const STYLES: &str = concat!(
    include_str!("../../assets/styles/tokens.css"),
    include_str!("../../assets/styles/base.css"),
    include_str!("../../assets/styles/layout.css"),
    include_str!("../../assets/styles/components.css"),
    include_str!("../../assets/styles/search.css"),
    include_str!("../../assets/styles/giving.css"),
    include_str!("../../assets/styles/profile.css"),
    include_str!("../../assets/styles/embed.css"),
    include_str!("../../assets/styles/dashboard.css"),
    include_str!("../../assets/styles/developers.css"),
    include_str!("../../assets/styles/media.css"),
);

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let mut assets = vec![
        asset!("figtree.woff2", "fonts/", "font/woff2"),
        asset!("fraunces.woff2", "fonts/", "font/woff2"),
        asset!("causeway.js", "", "text/javascript; charset=utf-8"),
        asset!("developers.js", "", "text/javascript; charset=utf-8"),
        asset!("search.js", "", "text/javascript; charset=utf-8"),
        asset!("fundraiser-form.js", "", "text/javascript; charset=utf-8"),
        asset!("proof.js", "", "text/javascript; charset=utf-8"),
        asset!("icon.svg", "", "image/svg+xml"),
    ];
    let mut styles = compact(STYLES);
    for asset in &assets {
        styles = styles.replace(&format!("asset:{}", asset.name), &asset.url);
    }
    assets.push(Asset::stylesheet(styles));
    assets
});

/// Returns a stylesheet without its comments, and without the space that only people need.
fn compact(styles: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(styles.len()), styles);
    while let Some((before, comment)) = rest.split_once("/*") {
        text.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut styles = lines.collect::<Vec<_>>().join("\n");
    for (spaced, short) in [
        (" {", "{"),
        ("{ ", "{"),
        (": ", ":"),
        ("; ", ";"),
        (";}", "}"),
        (" }", "}"),
        (", ", ","),
    ] {
        styles = styles.replace(spaced, short);
    }
    styles
}

impl Asset {
    /// Creates an asset, whose URL contains a hash of its content.
    pub fn new(name: &'static str, media_type: &'static str, content: Bytes) -> Asset {
        let (stem, extension) = name.rsplit_once('.').expect("every asset has an extension");
        Asset {
            url: format!("/assets/{stem}-{:08x}.{extension}", crc32fast::hash(&content)),
            name,
            media_type,
            content: CompressibleText::permanent(content),
        }
    }

    fn stylesheet(text: String) -> Asset {
        Asset::new(STYLESHEET, "text/css; charset=utf-8", text.into())
    }

    /// Returns whether the asset is text. Fonts and pictures are compressed already.
    pub fn is_text(&self) -> bool {
        self.media_type.starts_with("text/") || self.media_type == "image/svg+xml"
    }

    /// Returns the stylesheet with another accent color.
    pub fn stylesheet_with(accent: &AccentColor) -> Asset {
        let styles =
            String::from_utf8_lossy(find(STYLESHEET).expect("there is a stylesheet").content.plain());
        Asset::stylesheet(format!("{styles}{}", accent.css()))
    }

    /// Returns the URL of the asset.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Finds an asset of every site.
pub fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

/// Returns the URL of an asset of every site.
///
/// # Panics
///
/// Panics if there is no asset of this name: templates only name assets in `ASSETS`.
pub fn url(name: &str) -> &'static str {
    find(name).expect("templates name existing assets").url()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_an_asset_contains_the_hash_of_its_content() {
        for asset in ASSETS.iter() {
            let file = url(asset.name).strip_prefix("/assets/").unwrap();
            assert!(file.ends_with(asset.name.rsplit('.').next().unwrap()));
            assert!(file.contains(&format!("{:08x}", crc32fast::hash(asset.content.plain()))));
        }
    }

    #[test]
    fn the_stylesheet_loads_the_fonts_by_their_hashed_urls_and_nothing_else() {
        let styles = String::from_utf8_lossy(find(STYLESHEET).unwrap().content.plain());
        assert_eq!(styles.matches("url(\"").count(), FONTS.len());
        for font in FONTS {
            assert!(styles.contains(&format!("url(\"{}\")", url(font))), "{font}");
        }
        assert!(!styles.contains("asset:") && !styles.contains("@import"));
    }

    #[test]
    fn compact_stylesheets_keep_every_rule() {
        let styles =
            "/* Two\n   lines. */\n:root {\n    --gap: 4px;\n}\n\n    /* One */ a > b { content: \"*\"; }\n";
        assert_eq!(compact(styles), ":root{\n--gap:4px;\n}\na > b{content:\"*\"}");
        assert_eq!(compact("a {}\n/* never closed"), "a{}");
    }

    #[test]
    fn the_fonts_are_small() {
        let bytes: usize = FONTS
            .iter()
            .map(|font| find(font).unwrap().content.plain().len())
            .sum();
        assert!(bytes < 100_000, "{bytes}");
    }
}
