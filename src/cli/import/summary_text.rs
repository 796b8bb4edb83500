//! The result of an import in one line.

use directory::import::Summary;
use std::fmt::Write;
use std::time::Duration;

pub fn summary_text(summary: &Summary, stored: Duration, built: Option<Duration>) -> String {
    let mut text = match summary.total_changes() {
        0 => format!("nothing changed; {} rows are unchanged", summary.unchanged),
        _ => format!(
            "{} new, {} changed, {} gone, {} unchanged",
            summary.new, summary.changed, summary.gone, summary.unchanged
        ),
    };
    if summary.refused > 0 {
        let _ = write!(text, ", {} refused", summary.refused);
    }
    let _ = write!(text, "; {:.1} s", stored.as_secs_f64());
    if let Some(built) = built {
        let _ = write!(text, ", snapshot {:.1} s", built.as_secs_f64());
    }
    text
}
