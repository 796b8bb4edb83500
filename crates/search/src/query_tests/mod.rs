//! Tests of what queries find, by what people type.

mod missions;
mod names;

use crate::builder::{Document, IndexBuilder};
use crate::index::Index;
use crate::query::{Query, Rewrite};

/// Builds an index of documents, which are given prominences in descending order.
fn build(documents: &[Document<'_>]) -> Index<Vec<u8>> {
    build_with(IndexBuilder::new(), documents)
}

fn build_with(mut builder: IndexBuilder, documents: &[Document<'_>]) -> Index<Vec<u8>> {
    for (number, document) in documents.iter().enumerate() {
        let prominence = if document.prominence > 0.0 {
            document.prominence
        } else {
            9.0 - number as f32 / 10.0
        };
        builder
            .add(&Document {
                prominence,
                ..*document
            })
            .unwrap();
    }
    Index::open(builder.finish().unwrap()).unwrap()
}

fn named(name: &str) -> Document<'_> {
    Document {
        name,
        ..Document::default()
    }
}

/// Returns the documents that are found, best first.
fn found(index: &Index<Vec<u8>>, text: &str) -> Vec<u32> {
    let results = index.search(&Query::new(text));
    results.hits.iter().map(|hit| hit.document).collect()
}

/// Returns how the best hit was found.
fn rewrite(index: &Index<Vec<u8>>, text: &str) -> Option<Rewrite> {
    let results = index.search(&Query::new(text));
    results.hits.first().map(|hit| hit.rewrite)
}
