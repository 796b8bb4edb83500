//! The filter of a query, with its labels looked up.

use crate::query::Query;
use crate::search::postings::PostingCursor;
use crate::search::prefilter::Prefilter;
use crate::segment::labels::LabelPostings;
use crate::segment::reader::Segment;

/// The documents that may be in the results of a query.
#[derive(Clone)]
pub(crate) struct Filter<'a> {
    /// The labels of each group, the group with the fewest documents first.
    groups: Vec<Vec<LabelPostings<'a>>>,
    exclude: Option<&'a dyn Fn(u32) -> bool>,
    /// Number of documents in the segment.
    document_count: u32,
}

impl<'a> Filter<'a> {
    /// Looks up the labels of `query`. Labels that no document carries are ignored.
    pub(crate) fn new(segment: Segment<'a>, query: &Query<'a>) -> Self {
        let labels = |group: &Vec<String>| {
            group
                .iter()
                .filter_map(|label| segment.find_label(label))
                .collect::<Vec<_>>()
        };
        let mut groups: Vec<Vec<LabelPostings<'a>>> = query.filter.iter().map(labels).collect();
        groups.sort_by_key(|group| group.iter().map(LabelPostings::len).sum::<usize>());
        Self {
            groups,
            exclude: query.exclude,
            document_count: segment.document_count(),
        }
    }

    /// Requires one label of a further group.
    pub(crate) fn add_group(&mut self, labels: Vec<LabelPostings<'a>>) {
        self.groups.push(labels);
        self.groups
            .sort_by_key(|group| group.iter().map(LabelPostings::len).sum::<usize>());
    }

    /// Returns `true` if no document can match.
    pub(crate) fn is_unsatisfiable(&self) -> bool {
        self.groups.first().is_some_and(Vec::is_empty)
    }

    /// Returns `true` if documents must carry a label.
    pub(crate) fn has_labels(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Returns the labels of the group with the fewest documents, if there is a group.
    pub(crate) fn narrowest_group(&self) -> Option<&[LabelPostings<'a>]> {
        self.groups.first().map(Vec::as_slice)
    }

    /// Returns `true` if the document matches.
    #[inline]
    pub(crate) fn matches(&self, document: u32) -> bool {
        self.groups
            .iter()
            .all(|group| group.iter().any(|label| label.contains(document)))
            && !self.exclude.is_some_and(|is_excluded| is_excluded(document))
    }

    /// Iterates over the number of postings of each group, in ascending order.
    pub(crate) fn posting_counts(&self) -> impl Iterator<Item = usize> {
        self.groups
            .iter()
            .map(|group| group.iter().map(LabelPostings::len).sum())
    }

    /// Creates the prefilter of a group.
    pub(crate) fn prefilter(&self, group: usize) -> Prefilter<'a> {
        Prefilter::AnyOf(self.groups[group].iter().map(LabelPostings::doc_set).collect())
    }

    /// Opens a cursor over the documents of the group with the fewest documents.
    pub(crate) fn open(&self) -> Option<PostingCursor<'a>> {
        Some(match self.narrowest_group()? {
            [single] => PostingCursor::List(single.documents()),
            several => {
                let lists = several.iter().map(LabelPostings::documents).collect();
                PostingCursor::union(lists, self.document_count)
            }
        })
    }
}
