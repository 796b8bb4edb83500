//! Why a search found little, in sentences for the results page.

use crate::app::App;
use crate::app::bulk_work::Slice;
use crate::http::client::Client;
use crate::http::error::Result;
use crate::web::dates::{format_day, format_time};
use crate::web::texts::{SearchTexts, fill};
use directory::View;
use directory::nonprofits::ein::Ein;
use directory::query::diagnosis::{Diagnosis, MAX_CONSIDERED};
use directory::query::ein_status::{EinStatus, Listing};
use directory::query::filter::{FilterField, SearchFilter};
use std::sync::Arc;

/// The maximum number of sentences about words.
const MAX_WORDS: usize = 3;

/// Explains why a search found little. While the store is unavailable, nothing is said about an EIN.
pub async fn explain(
    app: &App,
    client: Client,
    view: &Arc<View>,
    typed: &str,
    filter: &SearchFilter,
    t: &SearchTexts,
) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    if let Some((ein, _)) = Ein::find_in(typed)
        && let Ok(imports) = app.caches.provenance.list(&app.db, view.revision).await
        && let Ok(status) = EinStatus::find(&app.db, view, &imports, ein).await
    {
        sentences.extend(describe_ein(&status, t));
    }
    let (view, text, filter) = (Arc::clone(view), typed.to_owned(), filter.clone());
    let diagnose = move |_: &Slice| Some(view.diagnose(&text, &filter));
    let diagnosis = app.bulk_work.run(client.owner(), diagnose).await?;
    sentences.extend(describe_words(&diagnosis, t));
    let removed = diagnosis.removed.iter();
    sentences.extend(removed.filter_map(|(field, removed)| describe_filter(*field, *removed, t)));
    Ok(sentences)
}

/// Names the words that no nonprofit has.
pub fn describe_unknown(words: &[String], t: &SearchTexts) -> Vec<String> {
    let words = words.iter().take(MAX_WORDS);
    words
        .map(|word| fill(t.no_such_word, &[("word", word)]))
        .collect()
}

fn describe_words(diagnosis: &Diagnosis, t: &SearchTexts) -> Vec<String> {
    let about = |text, word: &String| fill(text, &[("word", word)]);
    let mut sentences = describe_unknown(&diagnosis.unknown_words, t);
    let typos = diagnosis.typos.iter();
    sentences.extend(typos.map(|(typed, read_as)| fill(t.read_as, &[("typed", typed), ("word", read_as)])));
    let dropped = diagnosis.dropped_words.iter();
    let dropped = dropped.filter(|word| !diagnosis.unknown_words.contains(word));
    sentences.extend(dropped.map(|word| about(t.word_dropped, word)));
    sentences.truncate(MAX_WORDS);
    sentences
}

fn describe_filter(field: FilterField, removed: usize, t: &SearchTexts) -> Option<String> {
    let text = match removed {
        0 => return None,
        1 => t.removed_one,
        MAX_CONSIDERED.. => t.removed_most,
        _ => t.removed_many,
    };
    let filter = match field {
        FilterField::Causes => t.filter_cause,
        FilterField::State => t.filter_state,
        FilterField::City => t.filter_city,
        FilterField::Size => t.filter_size,
        FilterField::Disbursable | FilterField::Deductible => t.filter_deductible,
        FilterField::Near => t.filter_distance,
    };
    Some(fill(text, &[("count", &removed.to_string()), ("filter", filter)]))
}

fn describe_ein(status: &EinStatus, t: &SearchTexts) -> Option<String> {
    let as_of = status.as_of.map(format_time).unwrap_or_default();
    let (text, day) = match (status.listing, status.revoked_on()) {
        (_, Some(revoked_on)) => (t.ein_revoked, format_day(revoked_on)),
        (Listing::Gone(gone_at), None) => (t.ein_gone, format_time(gone_at)),
        (Listing::Listed, None) => return None,
        _ if as_of.is_empty() => return None,
        (Listing::TooNew, None) => (t.ein_too_new, as_of),
        (Listing::NotListed, None) => (t.ein_not_listed, as_of),
    };
    Some(fill(text, &[("day", &day)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::texts::PUBLIC_EN;
    use directory::nonprofits::tax_facts::{Day, Revocation};

    const T: &SearchTexts = &PUBLIC_EN.search;

    #[test]
    fn words_are_explained() {
        let diagnosis = Diagnosis {
            unknown_words: vec!["xyz".into()],
            typos: vec![("docters".into(), "doctors".into())],
            dropped_words: vec!["xyz".into(), "boise".into()],
            kinds: Vec::new(),
            removed: Vec::new(),
        };
        assert_eq!(
            describe_words(&diagnosis, T),
            [
                "No nonprofit matches the word “xyz”.",
                "We searched for “doctors” instead of “docters”.",
                "No nonprofit matches all words. “boise” was left out.",
            ]
        );
    }

    #[test]
    fn filters_are_explained_if_they_removed_something() {
        assert_eq!(describe_filter(FilterField::State, 0, T), None);
        let explained = |field, removed| describe_filter(field, removed, T).unwrap();
        assert_eq!(
            explained(FilterField::State, 1),
            "The state filter hides 1 result."
        );
        assert_eq!(
            explained(FilterField::Causes, 12),
            "The cause filter hides 12 results."
        );
        assert_eq!(
            explained(FilterField::Near, 50),
            "The distance filter hides 50 or more results."
        );
    }

    #[test]
    fn an_ein_is_explained() {
        let revocation = Revocation {
            revoked_on: Day::parse("2015-05-15").unwrap(),
            reinstated_on: None,
        };
        let explained = |listing, revocation| {
            let status = EinStatus {
                ein: Ein::new(1).unwrap(),
                listing,
                revocation,
                as_of: Some(1_794_816_000_000),
            };
            describe_ein(&status, T).unwrap_or_default()
        };
        let is_about = |text: String, part: &str| assert!(text.contains(part), "{text}");
        is_about(
            explained(Listing::NotListed, Some(revocation)),
            "revoked on May 15, 2015",
        );
        is_about(
            explained(Listing::Gone(1_794_816_000_000), None),
            "November 16, 2026",
        );
        is_about(explained(Listing::TooNew, None), "new");
        is_about(explained(Listing::NotListed, None), "files of November 16, 2026");
        assert_eq!(explained(Listing::Listed, None), "");
    }
}
