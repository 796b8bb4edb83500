//! Search by registration number and by domain.

use crate::query::{MatchKind, Rewrite};
use crate::search::boolean_query::BooleanQuery;
use crate::search::postings;
use crate::search::prefilter::BATCH_SIZE;
use crate::search::ranking;
use crate::search::searcher::Searcher;
use crate::segment::format::Section;
use crate::text::domain;

/// Number of digits of a registration number.
const REGISTRATION_DIGITS: usize = 9;
/// Minimum number of digits of a prefix.
const MIN_PREFIX_DIGITS: usize = 5;

impl Searcher<'_> {
    /// Offers documents by registration number, or by its first digits. Hyphens are ignored.
    pub fn search_registration_numbers(&mut self) {
        let text = self.query.text.trim();
        if !text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            return;
        }
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let Ok(prefix) = digits.parse::<u32>() else {
            return;
        };
        if !(MIN_PREFIX_DIGITS..=REGISTRATION_DIGITS).contains(&digits.len()) {
            return;
        }
        let scale = 10u32.pow((REGISTRATION_DIGITS - digits.len()) as u32);
        let numbers = self.segment.u32s(Section::RegistrationNumbers);
        let (from, to) = (
            numbers.lower_bound(prefix * scale),
            numbers.lower_bound((prefix + 1).saturating_mul(scale)),
        );
        let bonus = if scale == 1 {
            ranking::IDENTIFIER_BONUS
        } else {
            ranking::IDENTIFIER_PREFIX_BONUS
        };
        let documents = self.segment.u32s(Section::RegistrationDocuments);
        for document in documents.slice(from, to).iter() {
            let score = self.segment.prominence(document) + bonus;
            self.offer(
                document,
                score,
                MatchKind::RegistrationNumber,
                0,
                Rewrite::AsTyped,
            );
        }
    }

    /// Offers documents by the domain of their website, or by a prefix of it.
    pub fn search_domains(&mut self) {
        let Some(domain) = domain::parse_domain(self.query.text) else {
            return;
        };
        let mut query = BooleanQuery::new(Rewrite::AsTyped, 0.0, true);
        query.push_word(self.segment, &domain, true, 0);
        let clause = query.clauses()[0];
        let mut cursor = postings::open_sample(self.segment, &query, &clause);
        let mut buffer = [0; BATCH_SIZE];
        let batch = cursor.next_batch(self.segment, &[], &mut buffer);
        for &document in &buffer[..batch.map_or(0, |batch| batch.len)] {
            let is_complete = self
                .segment
                .record(document)
                .location()
                .iter()
                .any(|term| Some(term) == clause.exact_term);
            let bonus = if is_complete {
                ranking::IDENTIFIER_BONUS
            } else {
                ranking::IDENTIFIER_PREFIX_BONUS
            };
            let score = self.segment.prominence(document) + bonus;
            self.offer(document, score, MatchKind::Domain, 0, Rewrite::AsTyped);
        }
        // The hits refer to a query without clauses, so that the whole text counts as matched.
        self.finish_rewrite(BooleanQuery::new(Rewrite::AsTyped, 0.0, true));
    }
}
