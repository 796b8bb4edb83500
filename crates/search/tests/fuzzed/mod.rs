//! What the fuzz targets do with any bytes; the corpus runs through the same functions in an ordinary test.

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
            labels: &["cause:health"],
            ..Document::default()
        };
        builder.add(&document).expect("weights do not rise");
    }
    Index::open(builder.finish().expect("memory takes all bytes")).expect("a new segment opens")
});

/// Any text is answered, with hits that are there, in order, and that say what matched.
pub fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for filter in [&[][..], &[&["cause:health"][..]]] {
        let query = Query {
            filter,
            ..Query::new(&text)
        };
        let answer = INDEX.search(&query);
        assert!(answer.hits.len() <= 10);
        assert!(answer.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
        for hit in &answer.hits {
            assert!((hit.document as usize) < INDEX.len());
            assert!(answer.matched(hit).next().is_some_and(|word| !word.is_empty()));
        }
        assert_eq!(answer.hits, INDEX.search(&query).hits);
    }
}

/// Any bytes are refused or can be asked without harm.
pub fn open(bytes: &[u8]) {
    let _ = Index::open(bytes).map(|index| index.search(&Query::new("red cr")).hits.len());
    if let Ok(index) = Index::open_trusted(bytes) {
        for text in ["red cr", "a", "docters", "53019", "redcross.org"] {
            let _ = index.search(&Query::new(text)).hits.len();
        }
        let _ = index
            .labels("")
            .map(|(_, list)| list.page(0, 10).count())
            .sum::<usize>();
    }
}
