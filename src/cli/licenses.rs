//! `causeway licenses`: the notices and licenses of data that is part of the binary.

use crate::cli::stdout::Stdout;
use clap::Args;

/// A notice and the text of the license, for each data file that asks for it.
const TEXTS: [&str; 3] = [
    include_str!("../../data/word-vectors/NOTICE"),
    include_str!("../../data/word-vectors/LICENSE"),
    "The positions of ZIP codes contain information from GeoNames (https://www.geonames.org), which is made available\n\
     under the Creative Commons Attribution 4.0 license (https://creativecommons.org/licenses/by/4.0/).",
];

#[derive(Args)]
#[command(after_help = "Example:\n  causeway licenses | less")]
pub(super) struct Licenses {}

impl Licenses {
    pub(super) fn run() -> anyhow::Result<()> {
        let texts: Vec<&str> = TEXTS.iter().map(|text| text.trim_end()).collect();
        Stdout::print(&texts.join("\n\n"))?;
        Ok(())
    }
}
