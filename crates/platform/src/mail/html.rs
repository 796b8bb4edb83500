//! The HTML version of an email, made from its text.
//!
//! The text is what people write and review; the HTML shows the same words with links, facts such as `Amount: $25.00` in a
//! table, a button for a link of its own, and a small footer. So both versions always say the same, and only the
//! text is stored. Colors are those of the reader's mail program, light or dark, apart from the button.

use super::text::{FOOTER, QUOTE};
use std::fmt::Write as _;

/// The longest name of a fact, and the longest label of a button.
const MAX_NAME_LENGTH: usize = 40;

const BODY: &str =
    "<body style=\"margin:0 auto;max-width:36em;padding:1.5em;font:16px/1.5 system-ui,sans-serif\">\n";
const SENDER: &str =
    "<p style=\"margin:0 0 1.5em;padding-bottom:.75em;border-bottom:1px solid #8886;font-weight:600\">";
const BUTTON: &str = "<p style=\"margin:1.5em 0\"><a style=\"display:inline-block;padding:.6em 1.2em;border-radius:.4em;\
     background:#0a6460;color:#fff;font-weight:600;text-decoration:none\" href=\"";
const SMALL: &str = "<span style=\"font-size:13px;opacity:.75;overflow-wrap:anywhere\">";
const FOOTER_STYLE: &str = "<p style=\"margin:2em 0 0;padding-top:1em;border-top:1px solid #8886;font-size:13px;\
     opacity:.75;overflow-wrap:anywhere\">";

const QUOTE_STYLE: &str = "<blockquote style=\"margin:1em 0;padding-left:1em;border-left:3px solid #8886\">";

/// Returns the HTML version of a text. Its paragraphs are separated by empty lines.
pub(super) fn render(sender: Option<&str>, subject: &str, text: &str) -> String {
    let mut html = String::with_capacity(text.len() * 2 + 2_048);
    html.push_str(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<style>:root{color-scheme:light dark}</style>\n<title>",
    );
    escape(&mut html, subject);
    html.push_str("</title>\n</head>\n");
    html.push_str(BODY);
    if let Some(sender) = sender {
        html.push_str(SENDER);
        escape(&mut html, sender);
        html.push_str("</p>\n");
    }
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

/// Writes a quote, a paragraph, a table if each of its lines is a fact, a button, or the footer.
fn write_block(html: &mut String, block: &str) {
    let quoted: Option<Vec<_>> = block.lines().map(|line| line.strip_prefix(QUOTE)).collect();
    if let Some(lines) = quoted {
        return write_quote(html, &lines);
    }
    let facts: Option<Vec<_>> = block.lines().map(fact).collect();
    match facts.as_deref() {
        Some(&[(label, url)]) if find_link(url) == Some(0) && !url.contains(char::is_whitespace) => {
            write_button(html, label, url);
        }
        Some(facts @ [_, _, ..]) => write_table(html, facts),
        _ => match block.strip_prefix(FOOTER) {
            Some(footer) => write_paragraph(html, FOOTER_STYLE, footer),
            None => write_paragraph(html, "<p>", block),
        },
    }
}

fn write_button(html: &mut String, label: &str, url: &str) {
    html.push_str(BUTTON);
    escape(html, url);
    html.push_str("\">");
    escape(html, label);
    html.push_str("</a><br>\n");
    html.push_str(SMALL);
    write_line(html, url);
    html.push_str("</span></p>\n");
}

fn write_table(html: &mut String, facts: &[(&str, &str)]) {
    html.push_str("<table role=\"presentation\" style=\"border-spacing:0\">\n");
    for (name, value) in facts {
        html.push_str(
            "<tr><td style=\"padding:0 1.5em .25em 0;vertical-align:top;white-space:nowrap;opacity:.75\">",
        );
        write_line(html, name);
        html.push_str(":</td><td style=\"padding:0 0 .25em;vertical-align:top;overflow-wrap:anywhere\">");
        write_line(html, value);
        html.push_str("</td></tr>\n");
    }
    html.push_str("</table>\n");
}

fn write_paragraph(html: &mut String, start: &str, lines: &str) {
    html.push_str(start);
    for (number, line) in lines.lines().enumerate() {
        if number > 0 {
            html.push_str("<br>\n");
        }
        write_line(html, line);
    }
    html.push_str("</p>\n");
}

fn write_quote(html: &mut String, lines: &[&str]) {
    html.push_str(QUOTE_STYLE);
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            html.push_str("<br>\n");
        }
        escape(html, line.trim());
    }
    html.push_str("</blockquote>\n");
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
        let html = render(None, "A subject", text);
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
    fn a_link_of_its_own_becomes_a_button_that_shows_its_target() {
        let html =
            body("See your donations: https://example.org/a?b&c\n\nSee: https://example.org/ and more");
        assert!(
            html.contains("href=\"https://example.org/a?b&amp;c\">See your donations</a>")
                && html.contains(">https://example.org/a?b&amp;c</a></span>"),
            "{html}"
        );
        assert!(
            html.contains("<p>See: <a href=\"https://example.org/\">"),
            "{html}"
        );
    }

    #[test]
    fn the_footer_is_small() {
        let html =
            body("Hello\n\n-- \nYou get this email because you asked for it.\nStop: https://example.org/s");
        assert!(html.contains("font-size:13px") && !html.contains("--"), "{html}");
        assert!(html.contains("asked for it.<br>\nStop: <a href"), "{html}");
    }

    #[test]
    fn what_somebody_else_wrote_is_a_quote_and_nothing_else() {
        let html = body("Ada wrote:\n\n> Amount: <b>\n> \n> Pay: https://x.example/\n\nBye");
        assert!(
            html.contains("Amount: &lt;b&gt;<br>\n<br>\nPay: https://x.example/</blockquote>"),
            "{html}"
        );
        assert!(!html.contains("<a ") && !html.contains("<table"), "{html}");
    }

    #[test]
    fn markup_in_the_text_is_shown_as_text() {
        let html = render(
            Some("<i>"),
            "<b>",
            "<script>alert(1)</script> https://x.example/\"onclick=\"alert(1)",
        );
        assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
        assert!(!html.contains("<i>") && html.contains("&lt;i&gt;"), "{html}");
        assert!(
            html.contains("href=\"https://x.example/&quot;onclick=&quot;alert(1\""),
            "{html}"
        );
    }

    proptest! {
        #[test]
        fn the_words_are_those_of_the_text(text in "[a-zA-Z<>&\"' .:/\n]{0,200}") {
            // A quote loses the mark of its lines.
            let lines = text.split('\n').map(|line| match line.trim_start().strip_prefix(QUOTE) {
                Some(_) => format!("x{line}"),
                None => line.to_owned(),
            });
            let text = lines.collect::<Vec<_>>().join("\n");
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
