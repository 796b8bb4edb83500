//! Search by registration number, by postal code, by domain and by the name in a domain.

use crate::query::{MatchKind, Rewrite};
use crate::search::boolean_query::BooleanQuery;
use crate::search::postings;
use crate::search::prefilter::BATCH_SIZE;
use crate::search::ranking;
use crate::search::searcher::Searcher;
use crate::segment::format::Section;
use crate::segment::trie::TermRange;
use crate::text::domain::{self, DomainName};
use crate::text::registration_number::{REGISTRATION_DIGITS, TypedNumber};
use crate::text::tag;
use crate::text::tokenizer::Tokens;

/// Maximum number of documents with a postal code that are read; a filter may exclude most of them.
const MAX_POSTAL_CODE_STEPS: usize = 4_096;

impl Searcher<'_> {
    /// Offers documents by registration number, or by its first digits. Returns `true` if the text is a
    /// complete number.
    pub(crate) fn search_registration_numbers(&mut self) -> bool {
        let text = self.query.text.trim();
        let Some(number) = TypedNumber::parse(text) else {
            return false;
        };
        let prefix = number.value;
        let scale = 10u32.pow((REGISTRATION_DIGITS - number.digits) as u32);
        let numbers = self.segment.u32s(Section::RegistrationNumbers);
        let (from, to) = (
            numbers.lower_bound(prefix * scale),
            numbers.lower_bound((prefix + 1).saturating_mul(scale)),
        );
        let bonus = if scale == 1 {
            ranking::IDENTIFIER_BONUS
        } else if number.may_be_postal_code && self.find_postal_code(text).is_some() {
            ranking::POSTAL_CODE_PENALTY
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
        number.is_complete()
    }

    /// Returns the tag of a postal code that a document has.
    fn find_postal_code(&self, text: &str) -> Option<u32> {
        let tag = tag::postal_code_tag(text)?;
        self.segment.trie().find(&tag)?.exact_term()
    }

    /// Offers the documents with a postal code, if the text is nothing else.
    pub(crate) fn search_postal_code(&mut self) {
        let Some(tag) = self.find_postal_code(self.query.text.trim()) else {
            return;
        };
        let mut query = BooleanQuery::new(Rewrite::AsTyped, 0.0, true);
        query.push([TermRange::single(tag)], [], None, 0);
        let mut cursor = postings::open(self.segment, &query, &query.clauses()[0]);
        let mut buffer = [0; BATCH_SIZE];
        let mut steps_left = MAX_POSTAL_CODE_STEPS;
        while steps_left > 0
            && let Some(batch) = cursor.next_batch(self.segment, &[], &mut buffer)
        {
            steps_left = steps_left.saturating_sub(batch.read);
            for &document in &buffer[..batch.len] {
                let score = self.segment.prominence(document) + ranking::IDENTIFIER_PREFIX_BONUS;
                self.offer(document, score, MatchKind::PostalCode, 0, Rewrite::AsTyped);
            }
            if self.top.is_full() {
                break;
            }
        }
        self.is_cut_short |= steps_left == 0;
        self.finish_rewrite(BooleanQuery::new(Rewrite::AsTyped, 0.0, true));
    }

    /// Searches for the name of the owner in a domain: "feedingamerica.org" is searched like "feedingamerica".
    /// Returns `false` if the text is not a domain.
    ///
    /// A name may also include the top-level domain, as one word or as two.
    pub(crate) fn search_name_in_domain(&mut self) -> bool {
        let text = self.query.text;
        let Some(DomainName { label, top_level }) = domain::find_domain_name(text) else {
            return false;
        };
        if domain::is_url(text) {
            // The scheme and the path are no words of a name.
            self.tokens.tokenize_part(text, label.start..top_level.end);
        }
        if self.segment.trie().find(self.tokens.word(0)).is_some() {
            let found_before = self.top.len();
            self.search_words();
            if self.top.len() > found_before {
                return true;
            }
        }
        self.tokens.tokenize_part(text, label);
        if self.tokens.is_empty() {
            return true;
        }
        let mut query = BooleanQuery::new(Rewrite::AsTyped, 0.0, false);
        for index in 0..self.word_count() {
            query.push_word(self.segment, self.tokens.word(index), false, 1 << index);
        }
        for word in Tokens::new(&text[top_level]).iter() {
            query.push_word(self.segment, word, false, 0);
        }
        self.evaluate_names(query);
        if self.word_count() == 1 {
            self.search_run_together(0);
        }
        self.search_words();
        true
    }

    /// Offers documents by the domain of their website, or by a prefix of it. A domain that is only filed
    /// ranks below all others.
    pub(crate) fn search_domains(&mut self) {
        let Some(domain) = domain::parse_domain(self.query.text) else {
            return;
        };
        self.search_domain(&domain, 0.0);
        self.search_domain(&tag::filed_domain_tag(&domain), ranking::FILED_DOMAIN_PENALTY);
        // The hits refer to a query without clauses, so that the whole text counts as matched.
        self.finish_rewrite(BooleanQuery::new(Rewrite::AsTyped, 0.0, true));
    }

    /// Offers the documents with a term that starts with `domain`.
    fn search_domain(&mut self, domain: &str, penalty: f32) {
        let mut query = BooleanQuery::new(Rewrite::AsTyped, 0.0, true);
        query.push_word(self.segment, domain, true, 0);
        let clause = query.clauses()[0];
        if query.is_unsatisfiable() {
            return;
        }
        let mut cursor = postings::open_sample(self.segment, &query, &clause);
        let mut buffer = [0; BATCH_SIZE];
        let batch = cursor.next_batch(self.segment, &[], &mut buffer);
        self.is_cut_short |= cursor.posting_count() > BATCH_SIZE;
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
            let score = self.segment.prominence(document) + bonus + penalty;
            self.offer(document, score, MatchKind::Domain, 0, Rewrite::AsTyped);
        }
    }
}
