//! Splits a word into the pieces that a table of word vectors has.
//!
//! This is WordPiece, the tokenizer of BERT models: the longest piece that the word starts with, then the
//! longest that the rest starts with, and so on. Pieces inside a word start with "##" in the table.

/// Maximum number of pieces of one word. A longer word is no word.
pub(crate) const MAX_PIECES: usize = 6;

/// What a piece inside a word starts with.
const CONTINUATION: &str = "##";

/// The pieces of a table, sorted by their bytes.
pub(crate) trait PieceList {
    /// Returns the number of pieces.
    fn len(&self) -> usize;

    /// Returns the piece with a number.
    fn piece(&self, number: usize) -> &[u8];

    /// Returns the number of the longest other piece that this one starts with.
    fn parent(&self, number: usize) -> Option<usize>;
}

/// Returns the numbers of the pieces of `word`, or nothing if it cannot be split into a few.
pub(crate) fn split(pieces: &impl PieceList, word: &str) -> Vec<usize> {
    let mut numbers = Vec::with_capacity(MAX_PIECES);
    let mut rest = word.as_bytes().to_vec();
    let mut prefix = 0;
    while rest.len() > prefix {
        let Some(number) = longest_prefix(pieces, &rest, prefix) else {
            return Vec::new();
        };
        if numbers.len() == MAX_PIECES {
            return Vec::new();
        }
        numbers.push(number);
        let length = pieces.piece(number).len();
        rest.splice(..length, CONTINUATION.bytes());
        prefix = CONTINUATION.len();
    }
    numbers
}

/// Returns the longest piece of more than `min_length` bytes that `text` starts with.
///
/// Everything between a prefix of the text and the text itself, in the order of bytes, starts with that
/// prefix. So the longest prefix is the last piece that is not greater than the text, or its parent, or the
/// parent of that.
fn longest_prefix(pieces: &impl PieceList, text: &[u8], min_length: usize) -> Option<usize> {
    let (mut low, mut high) = (0, pieces.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if pieces.piece(middle) <= text {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let mut number = low.checked_sub(1)?;
    while !text.starts_with(pieces.piece(number)) {
        number = pieces.parent(number)?;
    }
    (pieces.piece(number).len() > min_length).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    struct Pieces(Vec<String>);

    impl PieceList for Pieces {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn piece(&self, number: usize) -> &[u8] {
            self.0[number].as_bytes()
        }

        fn parent(&self, number: usize) -> Option<usize> {
            let piece = &self.0[number];
            let prefixes = (0..number).filter(|&other| piece.starts_with(&self.0[other]));
            prefixes.max_by_key(|&other| self.0[other].len())
        }
    }

    /// Tries every length of every piece, as the tokenizer of the model does.
    fn reference_split(pieces: &Pieces, word: &str) -> Vec<usize> {
        let (mut numbers, mut rest, mut mark) = (Vec::new(), word, "");
        while !rest.is_empty() {
            let fits = |end: &usize| {
                pieces
                    .0
                    .binary_search(&format!("{mark}{}", &rest[..*end]))
                    .is_ok()
            };
            let Some(end) = (1..=rest.len()).rev().find(fits) else {
                return Vec::new();
            };
            numbers.push(
                pieces
                    .0
                    .binary_search(&format!("{mark}{}", &rest[..end]))
                    .unwrap(),
            );
            (rest, mark) = (&rest[end..], CONTINUATION);
        }
        if numbers.len() > MAX_PIECES {
            Vec::new()
        } else {
            numbers
        }
    }

    #[test]
    fn a_word_is_split_into_the_longest_pieces() {
        let mut pieces: Vec<String> = ["stu", "stutter", "##ing", "##in", "##g", "s", "##s"]
            .map(str::to_owned)
            .to_vec();
        pieces.sort();
        let pieces = Pieces(pieces);
        let words = |word| {
            let numbers = split(&pieces, word);
            numbers
                .iter()
                .map(|&number| pieces.0[number].as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(words("stutter"), ["stutter"]);
        assert_eq!(words("stuttering"), ["stutter", "##ing"]);
        assert_eq!(words("stus"), ["stu", "##s"]);
        assert!(words("stutterer").is_empty());
        assert!(words("#").is_empty() && words("##").is_empty() && words("").is_empty());
    }

    proptest! {
        #[test]
        fn pieces_are_those_that_trying_every_length_finds(
            pieces in btree_set("(##)?[ab]{1,4}", 0..12),
            word in "[abc]{0,10}",
        ) {
            let pieces = Pieces(pieces.into_iter().collect());
            prop_assert_eq!(split(&pieces, &word), reference_split(&pieces, &word));
        }
    }
}
