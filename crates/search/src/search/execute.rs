//! The execution of a query, from identifiers to rewrites.

use crate::query::{Hit, MatchKind, Query, Rewrite, SearchResults};
use crate::search::boolean_query::BooleanQuery;
use crate::search::ranking;
use crate::search::searcher::Searcher;
use crate::search::top_k::PAGE_SIZE;
use crate::segment::forward_index::STOP_WORD_FLAG;
use crate::segment::reader::Segment;

/// Executes a query. Returns the rewrites that were tried as well, to which hits refer by index.
pub(crate) fn execute<'a>(segment: Segment<'a>, query: &Query<'a>) -> (SearchResults<'a>, Vec<BooleanQuery>) {
    let mut searcher = Searcher::new(segment, query);
    if query.limit > 0 && !searcher.filter.is_unsatisfiable() && segment.document_count() > 0 {
        let is_number = searcher.search_registration_numbers();
        searcher.search_postal_code();
        searcher.search_domains();
        let is_identified = searcher
            .top
            .hits()
            .first()
            .is_some_and(|hit| hit.score >= ranking::MIN_IDENTIFIED_SCORE);
        if is_number && searcher.top.len() == 0 {
            // Nothing else is similar to a number that no document has.
            searcher.search_typed_words();
        } else if !is_identified && !searcher.tokens.is_empty() {
            let is_in_domain = searcher.search_name_in_domain();
            if !is_in_domain {
                searcher.search_words();
            }
            if !is_number {
                searcher.search_missions();
            }
            if !is_in_domain {
                searcher.search_intent();
            }
        }
    }
    let is_complete =
        query.is_exhaustive && !searcher.is_cut_short && searcher.top.len() < query.limit.max(PAGE_SIZE);
    let Searcher {
        tokens,
        top,
        exact_hit,
        rewrites,
        ..
    } = searcher;
    let mut hits = top.into_hits();
    if let Some(exact) = exact_hit {
        promote_exact_name(&mut hits, exact);
    }
    hits.truncate(query.limit);
    for hit in &mut hits {
        hit.matched = match rewrites.get(usize::from(hit.rewrite_index)) {
            // Every word matches, in the mission or elsewhere.
            Some(rewrite) if hit.kind == MatchKind::Mission => {
                rewrite.required().fold(0, |mask, clause| mask | clause.word_mask)
            }
            Some(rewrite) => matched_words(segment, rewrite, hit),
            None => 0,
        };
    }
    let results = SearchResults {
        hits,
        is_complete,
        text: query.text,
        tokens,
    };
    (results, rewrites)
}

/// Moves the hit for the exact display name to [`ranking::EXACT_NAME_RANK`] if it is below or missing.
///
/// However many larger nonprofits have names that start with the words, somebody who types a complete name
/// finds it near the top. Its score becomes a little more than that of the hit it replaces, so that results
/// of several segments can be merged.
fn promote_exact_name(hits: &mut Vec<Hit>, exact: Hit) {
    let rank = hits.iter().position(|hit| hit.document == exact.document);
    if rank.is_some_and(|rank| rank < ranking::EXACT_NAME_RANK) {
        return;
    }
    let Some(replaced) = hits.get(ranking::EXACT_NAME_RANK - 1) else {
        return;
    };
    let score = replaced.score.next_up();
    if let Some(rank) = rank {
        hits.remove(rank);
    }
    let index = hits.partition_point(|hit| hit.score >= score);
    hits.insert(index, Hit { score, ..exact });
}

/// Returns the words of the query that match a document, one bit for each.
fn matched_words(segment: Segment<'_>, query: &BooleanQuery, hit: &Hit) -> u64 {
    let matches_name = matches!(
        hit.kind,
        MatchKind::ExactName | MatchKind::FullName | MatchKind::NamePrefix
    );
    if matches_name && query.has_no_optional_words() {
        return query
            .clauses()
            .iter()
            .fold(0, |mask, clause| mask | clause.word_mask);
    }
    let terms = segment.record(hit.document).all_terms();
    let initials = match hit.rewrite {
        Rewrite::Initials(index) => 1 << index,
        _ => 0,
    };
    query.clauses().iter().fold(initials, |mask, clause| {
        let matches = terms
            .iter()
            .any(|term| query.matches(clause, term & !STOP_WORD_FLAG));
        mask | if matches { clause.word_mask } else { 0 }
    })
}
