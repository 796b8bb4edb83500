//! The result of an import as text.

use ingest::Summary;
use std::fmt::Write;
use std::time::Duration;

/// Returns the counts and durations of an import in one line, and where its report is in another.
pub(super) fn summary_text(summary: &Summary, stored: Duration, built: Option<Duration>) -> String {
    let mut text = match summary.new + summary.changed + summary.gone {
        _ if summary.returns.is_some() => returns_text(summary),
        0 => format!("nothing changed; {} rows are unchanged", summary.unchanged),
        _ => format!(
            "{} new, {} changed, {} gone, {} unchanged",
            summary.new, summary.changed, summary.gone, summary.unchanged
        ),
    };
    if summary.refused > 0 && summary.returns.is_none() {
        let _ = write!(text, ", {} refused", summary.refused);
    }
    if let Some(counts) = &summary.standing {
        let _ = write!(
            text,
            "; {} rows by EIN, {} by state number, {} similar names to compare, {} verdicts changed",
            counts.by_ein, counts.by_state_number, counts.similar_names, counts.verdicts_changed
        );
    }
    let _ = write!(text, "; {:.1} s", stored.as_secs_f64());
    if let Some(built) = built {
        let _ = write!(text, ", snapshot {:.1} s", built.as_secs_f64());
    }
    if let Some(report) = &summary.report {
        let rows = if summary.returns.is_some() {
            "returns"
        } else {
            "lines"
        };
        let _ = write!(text, "\n  the refused {rows} are listed in {}", report.display());
    }
    text
}

fn returns_text(summary: &Summary) -> String {
    let counts = summary.returns.unwrap_or_default();
    let mut text = format!(
        "{} returns read: {} new, {} changed, {} unchanged",
        summary.lines, summary.new, summary.changed, summary.unchanged
    );
    for (count, what) in [
        (counts.outdated, "outdated"),
        (counts.other_forms, "of other forms"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    if summary.refused > 0 {
        let _ = write!(text, ", {} refused", summary.refused);
    }
    let _ = write!(text, "; {} nonprofits changed", counts.nonprofits_changed);
    text
}
