//! Which documents an answer may hold.

use crate::query::Query;
use crate::search::postings::Walk;
use crate::search::prefilter::Test;
use crate::segment::labels::LabelPostings;
use crate::segment::reader::Segment;

/// The filter of a query with its labels looked up.
pub struct Filter<'a> {
    /// For each group the lists of its labels, the group with the fewest documents first.
    groups: Vec<Vec<LabelPostings<'a>>>,
    hidden: Option<&'a dyn Fn(u32) -> bool>,
    /// Documents of the segment.
    documents: u32,
}

impl<'a> Filter<'a> {
    /// Looks up the labels of `query`; labels that no document carries are left out.
    pub fn new(segment: Segment<'a>, query: &Query<'a>) -> Self {
        let lists = |group: &&[&str]| {
            group
                .iter()
                .filter_map(|label| segment.find_label(label))
                .collect::<Vec<_>>()
        };
        let mut groups: Vec<Vec<LabelPostings<'a>>> = query.filter.iter().map(lists).collect();
        groups.sort_by_key(|group| group.iter().map(LabelPostings::len).sum::<usize>());
        Self {
            groups,
            hidden: query.hidden,
            documents: segment.document_count(),
        }
    }

    /// Whether no document can pass.
    pub fn is_empty(&self) -> bool {
        self.groups.first().is_some_and(Vec::is_empty)
    }

    /// The lists of the group with the fewest documents, if there is a filter.
    pub fn narrowest(&self) -> Option<&[LabelPostings<'a>]> {
        self.groups.first().map(Vec::as_slice)
    }

    /// Whether the document passes.
    #[inline]
    pub fn admits(&self, document: u32) -> bool {
        self.groups
            .iter()
            .all(|group| group.iter().any(|list| list.contains(document)))
            && !self.hidden.is_some_and(|hidden| hidden(document))
    }

    /// How many documents each group has at the most, the narrowest first.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.groups
            .iter()
            .map(|group| group.iter().map(LabelPostings::len).sum())
    }

    /// The test for the labels of a group.
    pub fn test(&self, group: usize) -> Test<'a> {
        Test::Lists(self.groups[group].iter().map(LabelPostings::doc_set).collect())
    }

    /// The documents of the narrowest group as one more list to walk.
    pub fn walk(&self) -> Option<Walk<'a>> {
        Some(match self.narrowest()? {
            [one] => Walk::List(one.documents()),
            several => {
                let lists = several.iter().map(LabelPostings::documents).collect();
                Walk::windows(lists, self.documents)
            }
        })
    }
}
