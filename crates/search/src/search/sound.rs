//! Sound-alikes: words that are spelled differently but sound the same.
//!
//! Two words sound alike if their skeletons are equal: doubled letters count once, letters of the same sound
//! are one, "ph" is "f", and an "h" after the first letter is silent. "Hadassah" and "haddasah", "john" and
//! "jon", "planned" and "planet" differ by more than one edit or are too short to be corrected otherwise. The
//! skeleton of the typed word is walked through the trie, where at most a few letters continue it. A word of
//! one or two sounds is not compared: "qqqqzzzz" does not mean "ks".

use crate::segment::trie::{self, Cursor, LETTERS, TermRange, Trie};

/// Minimum number of sounds of a word that sound-alikes are found for.
const MIN_SOUNDS: usize = 3;
/// Maximum number of sound-alikes of a word.
const MAX_TERMS: usize = 32;
/// Maximum number of positions of the trie that are visited.
const MAX_VISITED: usize = 512;

/// Whether an "h" follows the letter before. After a "p", it makes an "f" of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextH {
    Required,
    Optional,
    Forbidden,
}

/// Returns the sound of a letter, as a letter.
fn sound(letter: u8) -> u8 {
    match letter {
        b'c' | b'q' => b'k',
        b'd' => b't',
        b'y' => b'i',
        b'z' => b's',
        _ => letter,
    }
}

/// Returns the skeleton of a word of lowercase letters, or `None` if it has any other character or too few
/// sounds.
pub(crate) fn skeleton(word: &str) -> Option<Vec<u8>> {
    let letters = word.as_bytes();
    let mut skeleton: Vec<u8> = Vec::with_capacity(letters.len());
    for (index, &letter) in letters.iter().enumerate() {
        if !letter.is_ascii_lowercase() {
            return None;
        }
        let sound = match letter {
            b'p' if letters.get(index + 1) == Some(&b'h') => b'f',
            b'h' if index > 0 => continue,
            _ => sound(letter),
        };
        if skeleton.last() != Some(&sound) {
            skeleton.push(sound);
        }
    }
    (skeleton.len() >= MIN_SOUNDS).then_some(skeleton)
}

/// Adds the terms that sound like `word` but are spelled differently.
pub(crate) fn find_sound_alikes(trie: Trie<'_>, word: &str, terms: &mut Vec<TermRange>) {
    let Some(skeleton) = skeleton(word) else { return };
    // A position of the trie, its depth, the number of sounds that are matched, and whether an "h" follows.
    let mut pending: Vec<(Cursor<'_>, usize, usize, NextH)> = Vec::with_capacity(16);
    pending.extend(trie.root().map(|root| (root, 0, 0, NextH::Optional)));
    let mut visited = 0;
    let mut found = 0;
    while let Some((cursor, depth, matched, next_h)) = pending.pop() {
        visited += 1;
        if visited > MAX_VISITED || found == MAX_TERMS {
            return;
        }
        if matched == skeleton.len()
            && next_h != NextH::Required
            && let Some(term) = cursor.exact_term()
            && trie.word(term) != word
        {
            terms.push(TermRange::single(term));
            found += 1;
        }
        let mut step = |letter: u8, matched: usize, next_h: NextH| {
            if let Some(next) = trie.step(cursor, depth, letter - b'a' + LETTERS) {
                pending.push((next, depth + 1, matched, next_h));
            }
        };
        if next_h == NextH::Required {
            step(b'h', matched, NextH::Optional);
            continue;
        }
        let last = matched.checked_sub(1).map(|index| skeleton[index]);
        let next = skeleton.get(matched).copied();
        let letters = cursor.next_symbols().filter(|symbol| trie::is_letter(*symbol));
        for letter in letters.map(|symbol| symbol - LETTERS + b'a') {
            let sound = sound(letter);
            let after = if letter == b'p' {
                NextH::Forbidden
            } else {
                NextH::Optional
            };
            if letter == b'h' && depth > 0 {
                if next_h == NextH::Optional {
                    step(letter, matched, NextH::Optional);
                }
            } else if Some(sound) == next {
                step(letter, matched + 1, after);
            } else if Some(sound) == last {
                step(letter, matched, after);
            }
        }
        if next == Some(b'f') {
            step(b'p', matched + 1, NextH::Required);
        } else if last == Some(b'f') {
            step(b'p', matched, NextH::Required);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::trie::tests::with_trie;

    fn sound_alikes(word: &str, words: &[&str]) -> Vec<String> {
        with_trie(words, |trie| {
            let mut terms = Vec::new();
            find_sound_alikes(trie, word, &mut terms);
            terms.sort_unstable();
            terms
                .iter()
                .map(|range| trie.word(range.low).to_owned())
                .collect()
        })
    }

    #[test]
    fn words_that_sound_alike_are_found() {
        let words = [
            "hadassah",
            "john",
            "johns",
            "philadelphia",
            "planet",
            "planned",
            "plant",
        ];
        for (typed, expected) in [
            ("haddasah", "hadassah"),
            ("jon", "john"),
            ("planet", "planned"),
            ("filadelfia", "philadelphia"),
            ("philladelfia", "philadelphia"),
        ] {
            assert_eq!(sound_alikes(typed, &words), [expected], "{typed}");
        }
    }

    #[test]
    fn a_word_does_not_sound_like_itself_or_like_a_longer_word() {
        assert!(sound_alikes("john", &["john", "johns", "johnson"]).is_empty());
        assert!(sound_alikes("jo", &["joh"]).is_empty());
    }

    #[test]
    fn repeated_letters_do_not_sound_like_an_abbreviation() {
        for typed in ["qqqqzzzz", "qqzz", "kkss", "khs"] {
            assert!(sound_alikes(typed, &["cs", "ks"]).is_empty(), "{typed}");
        }
    }

    #[test]
    fn the_walk_finds_what_has_the_same_skeleton() {
        let mut words = [
            "cap", "caph", "kaff", "kaf", "khaf", "haf", "hhaf", "pha", "phap", "phhap", "pphap", "fap",
            "fapp", "ff", "f", "sap", "zapp", "saphp", "tt", "dd", "dhd",
        ];
        words.sort_unstable();
        for typed in words {
            let mut expected: Vec<_> = words
                .iter()
                .filter(|word| {
                    **word != typed && skeleton(word).is_some_and(|own| Some(own) == skeleton(typed))
                })
                .map(|word| (*word).to_owned())
                .collect();
            expected.sort();
            assert_eq!(sound_alikes(typed, &words), expected, "{typed}");
        }
    }
}
