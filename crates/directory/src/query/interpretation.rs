//! How a search read its words, where results do not have all of them.

use ::search::{Hit, Intent, Rewrite, SearchResults, Tokens};

/// The maximum number of kinds that are named.
const MAX_KINDS: usize = 3;

/// How the words of a search were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interpretation {
    /// What the kinds of nonprofits are called that the words mean, the nearest first.
    pub kinds: Vec<String>,
    /// The words that the results may lack, as typed. Words that carry no meaning are not among them.
    pub left_out: Vec<String>,
}

/// Returns how the words were read, or `None` if all results have all words.
pub(crate) fn of_results(
    intent: &Intent,
    from_snapshot: &SearchResults<'_>,
    from_overlay: Option<&SearchResults<'_>>,
) -> Option<Interpretation> {
    let hits = from_snapshot.hits.iter();
    let hits = hits.chain(from_overlay.into_iter().flat_map(|results| &results.hits));
    let interpretation = of_hits(intent, from_snapshot.text(), from_snapshot.tokens(), hits);
    (interpretation != Interpretation::default()).then_some(interpretation)
}

/// Returns how the words of a text were read to find these hits.
pub(crate) fn of_hits<'h>(
    intent: &Intent,
    text: &str,
    tokens: &Tokens,
    hits: impl Iterator<Item = &'h Hit>,
) -> Interpretation {
    let mut interpretation = Interpretation::default();
    for hit in hits {
        match hit.rewrite {
            Rewrite::Meaning(number) if interpretation.kinds.len() < MAX_KINDS => {
                if let Some((phrase, _)) = intent.concept(number) {
                    push_new(&mut interpretation.kinds, phrase.to_owned());
                }
            }
            Rewrite::Part(kept) => {
                for index in (0..tokens.len().min(u32::BITS as usize)).filter(|index| kept >> index & 1 == 0)
                {
                    if intent.carries_meaning(tokens.word(index)) {
                        let typed = text[tokens.source_range(index)].to_owned();
                        push_new(&mut interpretation.left_out, typed);
                    }
                }
            }
            _ => {}
        }
    }
    interpretation
}

fn push_new(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}
