//! The HTML version of an email, made from its text.
//!
//! The text is what people write and review; the HTML shows the same words with links, and facts such as `Amount: $25.00`
//! in a table. So both versions always say the same, and only the text is stored.

use std::fmt::Write as _;

/// The longest name of a fact.
const MAX_NAME_LENGTH: usize = 40;

/// Returns the HTML version of a text. Its paragraphs are separated by empty lines.
pub(super) fn render(subject: &str, text: &str) -> String {
    let mut html = String::with_capacity(text.len() * 2 + 1_024);
    html.push_str(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>",
    );
    escape(&mut html, subject);
    html.push_str(
        "</title>\n</head>\n<body style=\"margin:0 auto;max-width:36em;padding:1.5em;\
         font:16px/1.5 system-ui,sans-serif\">\n",
    );
    for block in text
        .split("\n\n")
        .map(str::trim)
        .filter(|block| !block.is_empty())
    {
        write_block(&mut html, block);
    }
    html.push_str("</body>\n</html>\n");
    html
}

/// Writes a paragraph, or a table if each of its lines is a fact.
fn write_block(html: &mut String, block: &str) {
    let facts: Option<Vec<_>> = block.lines().map(fact).collect();
    if let Some(facts) = facts.filter(|facts| facts.len() > 1) {
        html.push_str("<table role=\"presentation\" style=\"border-spacing:0\">\n");
        for (name, value) in facts {
            html.push_str("<tr><td style=\"padding:0 1.5em .25em 0;vertical-align:top\">");
            write_line(html, name);
            html.push_str(":</td><td style=\"padding:0 0 .25em\">");
            write_line(html, value);
            html.push_str("</td></tr>\n");
        }
        html.push_str("</table>\n");
        return;
    }
    html.push_str("<p>");
    for (number, line) in block.lines().enumerate() {
        if number > 0 {
            html.push_str("<br>\n");
        }
        write_line(html, line);
    }
    html.push_str("</p>\n");
}

/// Splits a line such as `Amount: $25.00`.
fn fact(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(": ")?;
    let is_name = name.len() <= MAX_NAME_LENGTH && !name.contains(['.', '!', '?']);
    (is_name && !value.trim().is_empty()).then_some((name, value))
}

/// Writes text with its links.
fn write_line(html: &mut String, line: &str) {
    let mut rest = line;
    while let Some(start) = find_link(rest) {
        let (before, link) = rest.split_at(start);
        let end = link.find(char::is_whitespace).unwrap_or(link.len());
        // Punctuation after a link belongs to the sentence.
        let link = link[..end].trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
        escape(html, before);
        html.push_str("<a href=\"");
        escape(html, link);
        html.push_str("\">");
        escape(html, link);
        html.push_str("</a>");
        rest = &rest[start + link.len()..];
    }
    escape(html, rest);
}

/// Returns where the first link starts.
fn find_link(text: &str) -> Option<usize> {
    let starts = ["https://", "http://"]
        .into_iter()
        .filter_map(|scheme| text.find(scheme));
    starts.min()
}

fn escape(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            // Control characters have no place in HTML.
            c if c.is_control() => {
                let _ = write!(html, " ");
            }
            c => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body(text: &str) -> String {
        let html = render("A subject", text);
        let (_, body) = html.split_once("sans-serif\">\n").unwrap();
        body.strip_suffix("</body>\n</html>\n").unwrap().to_owned()
    }

    #[test]
    fn paragraphs_lines_and_links_are_kept() {
        assert_eq!(
            body("Thank you, Ana.\nSee https://example.org/a?b=1&c=2.\n\nBye\n"),
            "<p>Thank you, Ana.<br>\nSee <a href=\"https://example.org/a?b=1&amp;c=2\">\
             https://example.org/a?b=1&amp;c=2</a>.</p>\n<p>Bye</p>\n"
        );
    }

    #[test]
    fn facts_become_a_table() {
        let html = body("Date: November 18\nAmount: $25.00\n\nNote: one line is a sentence");
        assert!(
            html.contains("Date:</td>") && html.contains(">$25.00</td>"),
            "{html}"
        );
        assert!(html.contains("<p>Note: one line is a sentence</p>"), "{html}");
    }

    #[test]
    fn markup_in_the_text_is_shown_as_text() {
        let html = render(
            "<b>",
            "<script>alert(1)</script> https://x.example/\"onclick=\"alert(1)",
        );
        assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
        assert!(
            html.contains("href=\"https://x.example/&quot;onclick=&quot;alert(1\""),
            "{html}"
        );
    }

    proptest! {
        #[test]
        fn the_words_are_those_of_the_text(text in "[a-zA-Z<>&\"' .:/\n]{0,200}") {
            let html = body(&text);
            let mut words = String::new();
            let mut is_tag = false;
            for c in html.chars() {
                match c {
                    '<' => is_tag = true,
                    '>' => is_tag = false,
                    c if !is_tag => words.push(c),
                    _ => {}
                }
            }
            let words = words
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&amp;", "&");
            let compact = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(compact(&words), compact(&text));
        }
    }
}
