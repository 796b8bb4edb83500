//! The causes that a search names, such as "how do I donate to Ukraine".

use crate::nonprofits::causes::{Cause, Causes};
use crate::query::intent::intent;
use ::search::{Tokens, is_same_word};

/// Returns the causes that a text names, if it names nothing else: words that say little, such as those of a question, do not
/// count.
pub fn named_causes<'c>(text: &str, causes: &'c Causes) -> Vec<&'c Cause> {
    let words = telling_words(text);
    let mut is_named = vec![false; words.len()];
    let mut found = Vec::new();
    for cause in causes.list() {
        let of_cause = [cause.title.as_str(), &cause.name].map(telling_words);
        let named = of_cause.iter().find_map(|of_cause| find_all(of_cause, &words));
        if let Some(positions) = named {
            for position in positions {
                is_named[position] = true;
            }
            found.push(cause);
        }
    }
    if is_named.contains(&false) {
        found.clear();
    }
    found
}

/// Returns the words of a text that say what it is about.
fn telling_words(text: &str) -> Vec<String> {
    let tokens = Tokens::new(text);
    let words = tokens.iter().filter(|word| intent(false).says_much(word));
    words.map(str::to_owned).collect()
}

/// Returns where each of the words is in a text, or `None` if one is missing or there are none.
fn find_all(words: &[String], text: &[String]) -> Option<Vec<usize>> {
    let find = |word: &String| text.iter().position(|other| is_same_word(word, other));
    let positions: Option<Vec<usize>> = words.iter().map(find).collect();
    positions.filter(|positions| !positions.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_a_cause_and_a_name_does_not() {
        let named = |text: &str| -> Vec<String> {
            let causes = named_causes(text, Causes::built_in());
            causes.iter().map(|cause| cause.name.clone()).collect()
        };
        for (text, cause) in [
            ("how do i donate to ukraine", "ukraine"),
            ("How can I help refugees?", "refugees"),
            ("charities for dogs", "dogs"),
            ("food security", "food-security"),
            ("animal", "animals"),
            ("lgbt", "lgbt"),
        ] {
            assert!(
                named(text).contains(&cause.to_owned()),
                "{text}: {:?}",
                named(text)
            );
        }
        for text in [
            "",
            "how do i donate",
            "red cross",
            "ukraine house dc",
            "austin cats",
            "530196605",
        ] {
            assert_eq!(named(text), [""; 0], "{text}");
        }
    }
}
