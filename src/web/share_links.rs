//! Links for sharing a page.

use crate::http::params::RESERVED;
use crate::web::texts::PUBLIC_EN;
use percent_encoding::utf8_percent_encode;

/// The URL of a page, and links that share it elsewhere.
#[derive(Clone, Debug)]
pub struct ShareLinks {
    pub title: String,
    pub url: String,
    pub mailto: String,
    /// The names of other sites, and links that share the page there.
    pub sites: [(&'static str, String); 4],
    /// The path of the QR code that opens the page.
    pub qr_code: String,
}

impl ShareLinks {
    pub fn new(title: &str, url: String) -> ShareLinks {
        let t = &PUBLIC_EN.share;
        let (subject, link) = (encode(title), encode(&url));
        let both = encode(&format!("{title} {url}"));
        ShareLinks {
            title: title.to_owned(),
            mailto: format!("mailto:?subject={subject}&body={link}"),
            sites: [
                (
                    t.facebook,
                    format!("https://www.facebook.com/sharer/sharer.php?u={link}"),
                ),
                (
                    t.x,
                    format!("https://x.com/intent/post?url={link}&text={subject}"),
                ),
                (t.whatsapp, format!("https://wa.me/?text={both}")),
                (
                    t.linkedin,
                    format!("https://www.linkedin.com/sharing/share-offsite/?url={link}"),
                ),
            ],
            qr_code: format!("/share{}.svg", path_of(&url)),
            url,
        }
    }
}

/// Returns the path of a URL.
fn path_of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or("", |at| &url[host + at..])
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_add_parameters_to_a_link() {
        let url = "https://give.example.org/a/f/b".to_owned();
        let links = ShareLinks::new("Run & \"walk\"\r\nBcc: x", url);
        let sites = links.sites.iter().map(|(_, url)| url);
        for link in sites.chain([&links.mailto]) {
            let (_, query) = link.split_once('?').unwrap();
            assert!(
                query.matches('&').count() <= 1 && !query.contains(['"', '\r', '\n', ' ']),
                "{link}"
            );
            assert!(
                link.contains("https%3A%2F%2Fgive.example.org%2Fa%2Ff%2Fb"),
                "{link}"
            );
        }
        assert_eq!(links.qr_code, "/share/a/f/b.svg");
    }
}
