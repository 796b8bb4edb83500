//! Measures how long stories of 20 KB take to render that are written to be slow to parse or long as HTML.
//!
//! Prints one table with the slowest stories first. A story may take five milliseconds.
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use causeway::web::markdown;
use std::hint::black_box;
use std::time::Instant;

const STORY_CHARS: usize = 20_000;
const ROUNDS: usize = 5;
const MAX_MILLIS: f64 = 5.0;
const ROWS: usize = 10;

/// What a story repeats: in turn with another one, or before it.
const PIECES: [&str; 46] = [
    ">",
    "> ",
    "- ",
    "-\n",
    "+\n",
    "1. ",
    "2)\n",
    "\n",
    "a\n",
    ">>>>>>-\n\n",
    "- a\n\n",
    "> a\n",
    "# ",
    "a\n===\n",
    "***\n",
    "*",
    "**a",
    "_a",
    "*_",
    "a*",
    "~~",
    "`",
    "`a",
    "```\n",
    "[",
    "]",
    "[a]",
    "[a](",
    "[a](b \"",
    "[a](b \"c\" ",
    "[a](<b",
    "![",
    "(",
    "[a]: b\n",
    "[a]: b\n\"",
    "<",
    "<a ",
    "<a@b.c>",
    "<!--",
    "<?",
    "&",
    "&a",
    "\"",
    "https://a.example ",
    "|a|",
    "|-|-|\n",
];

fn main() {
    // `cargo test` runs benchmark binaries too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut times = Vec::new();
    for first in PIECES {
        for second in PIECES {
            let in_turn = first.chars().chain(second.chars()).cycle();
            let (before, after) = (first.chars().cycle(), second.chars().cycle());
            let halves = before.take(STORY_CHARS / 2).chain(after);
            times.push((millis(in_turn), format!("{first:?} and {second:?} in turn")));
            times.push((millis(halves), format!("{first:?} before {second:?}")));
        }
    }
    times.sort_by(|one, other| other.0.total_cmp(&one.0));
    println!("| story                                    |    ms | verdict |");
    println!("|:-----------------------------------------|------:|--------:|");
    for (millis, story) in times.iter().take(ROWS) {
        let verdict = if *millis <= MAX_MILLIS { "ok" } else { "MISSED" };
        println!("| {story:<40} | {millis:>5.2} | {verdict:>7} |");
    }
    println!(
        "\n{} stories of {STORY_CHARS} characters; the best of {ROUNDS} rounds each.",
        times.len()
    );
}

/// Returns the milliseconds of the fastest round. Each round renders another text, because a text is rendered once.
fn millis(story: impl Iterator<Item = char>) -> f64 {
    let story: String = story.take(STORY_CHARS - 1).collect();
    let rounds = (0..ROUNDS).map(|round| {
        let text = format!("{story}{round}");
        let started = Instant::now();
        black_box(markdown::render(&text));
        started.elapsed().as_secs_f64() * 1e3
    });
    rounds.fold(f64::INFINITY, f64::min)
}
