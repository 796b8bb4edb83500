//! `causeway search`

use super::output::Output;
use crate::app::App;
use anyhow::bail;
use clap::Args;
use serde_json::json;
use std::fmt::Write;

#[derive(Args)]
#[command(after_help = "Example:\n  causeway search --explain \"docters without bor\"")]
pub(super) struct Search {
    /// The search text
    #[arg(value_parser = parse_text)]
    text: String,
    /// The number of results, at most 50
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    take: u64,
    /// Explain the rank of each result
    #[arg(long)]
    explain: bool,
}

fn parse_text(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        Err("enter a word to search for")
    } else {
        Ok(text.to_owned())
    }
}

impl Search {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        app.refresh_directory().await?;
        let view = app.directory.view();
        if view.snapshot.as_ref().is_none_or(|snapshot| snapshot.is_empty()) {
            bail!(
                "the directory is empty; import one with causeway import irs, or start causeway serve to load the demo"
            );
        }
        let found = view.explain(&self.text, self.take.min(50) as usize);
        let hits: Vec<_> = found
            .iter()
            .map(|hit| json!({"name": hit.name, "location": hit.location, "ein": hit.ein, "slug": hit.slug, "score": hit.score, "why": hit.why}))
            .collect();
        output.print(&json!({"nonprofits": hits}), || {
            let mut text = String::new();
            for (rank, hit) in (1..).zip(&found) {
                let ein = hit.ein.as_deref().unwrap_or("no EIN");
                let _ = writeln!(text, "{rank:2}. {}, {} ({ein})", hit.name, hit.location);
                if self.explain {
                    let _ = writeln!(text, "      {}", hit.why);
                }
            }
            if text.is_empty() {
                "no results".to_owned()
            } else {
                text.trim_end().to_owned()
            }
        })
    }
}
