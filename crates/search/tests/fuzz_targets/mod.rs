//! The fuzz targets, shared with the test that runs their corpus.

use std::sync::LazyLock;

use search::{Document, Index, IndexBuilder, Query};

static INDEX: LazyLock<Index<Vec<u8>>> = LazyLock::new(|| {
    let mut builder = IndexBuilder::new();
    for (name, city) in [
        ("American National Red Cross", "Washington"),
        ("Médecins Sans Frontières", "New York"),
        ("St. Mary's Food Bank of the A & B Inc", "Saint Paul"),
        ("Школа № 1", "Odesa"),
        ("The", "The Dalles"),
        ("", ""),
    ] {
        let document = Document {
            name,
            aliases: &["MSF"],
            location: &[city],
            registration_number: Some("530196605"),
            domain: Some("redcross.org"),
            filed_domain: Some("https://www.filed.example/home"),
            mission: &["We teach refugees to sew."],
            labels: &["cause:health"],
            ..Document::default()
        };
        builder
            .add(&document)
            .expect("all documents are equally prominent");
    }
    Index::open(builder.finish().expect("writing to memory succeeds")).expect("a new segment is valid")
});

/// Searches for any text. The hits exist, are sorted and have matched words.
pub fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for filter in [&[][..], &[vec!["cause:health".to_owned()]]] {
        let query = Query {
            filter,
            ..Query::new(&text)
        };
        let results = INDEX.search(&query);
        assert!(results.hits.len() <= 10);
        assert!(results.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
        for hit in &results.hits {
            assert!((hit.document as usize) < INDEX.len());
            assert!(
                results
                    .matched_words(hit)
                    .next()
                    .is_some_and(|word| !word.is_empty())
            );
        }
        assert_eq!(results.hits, INDEX.search(&query).hits);
    }
}

/// Opens any bytes. They are rejected, or can be searched without a panic.
pub fn open(bytes: &[u8]) {
    let _ = Index::open(bytes).map(|index| index.search(&Query::new("red cr")).hits.len());
    if let Ok(index) = Index::open_trusted(bytes) {
        for text in ["red cr", "a", "docters", "53019", "redcross.org"] {
            let _ = index.search(&Query::new(text)).hits.len();
        }
        let _ = index
            .labels_with_prefix("")
            .map(|(_, postings)| postings.page(0, 10).count())
            .sum::<usize>();
    }
}
