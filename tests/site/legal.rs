//! The pages about the site: about, contact, privacy, terms and accessibility.

use crate::client::Client;
use crate::world::World;
use causeway::app::App;
use causeway::config::{Config, SiteSettings};
use giving::providers::Provider;

on_both_databases!(
    the_default_texts_say_what_this_server_does,
    the_texts_of_the_operator_replace_the_default_ones,
);

const PATHS: [&str; 5] = ["/about", "/contact", "/privacy", "/terms", "/accessibility"];

async fn the_default_texts_say_what_this_server_does(world: &World) {
    let sitemap = world.client.get_plain(200, "/sitemaps/pages.xml").await.text();
    for path in PATHS {
        let page = world.client.get_plain(200, path).await.text();
        assert!(page.contains("has not published a name"), "{path}");
        assert!(!page.contains('{'), "{path}");
        assert_eq!(page.matches("<h1").count(), 1, "{path}");
        for link in PATHS {
            assert!(page.contains(&format!("href=\"{link}\"")), "{path}: {link}");
        }
        assert!(sitemap.contains(&format!("{path}</loc>")), "{path}");
    }
    let privacy = world.client.get_plain(200, "/privacy").await.text();
    assert!(privacy.contains("no money is charged"));
    let (_, without_giving) = world.with_provider(Provider::Off).await;
    let privacy = without_giving.get_plain(200, "/privacy").await.text();
    assert!(privacy.contains("does not accept donations") && !privacy.contains("no money is charged"));
}

async fn the_texts_of_the_operator_replace_the_default_ones(world: &World) {
    let text =
        "# Our promise\n\n<script>alert(1)</script>\n\n[click](javascript:alert(1)) [more](/contact?why=1)\n";
    let site = SiteSettings {
        operator: "Tree Fund".to_owned(),
        contact_email: "hello@tree.example".to_owned(),
        privacy_file: Some(world.file("privacy.md", text)),
        ..SiteSettings::default()
    };
    let config = Config {
        site,
        ..world.app.config.clone()
    };
    let app = App::build(config).await.unwrap();
    let client = Client::new(&app, &world.client.key);
    let privacy = client.get_plain(200, "/privacy").await.text();
    assert!(privacy.contains("<h2>Our promise</h2>") && privacy.contains("href=\"/contact?why=1\""));
    assert!(!privacy.contains("<script>alert") && !privacy.contains("javascript:"));
    assert!(!privacy.contains("no analytics"));
    let contact = client.get_plain(200, "/contact").await.text();
    assert!(contact.contains("Tree Fund runs this site"));
    assert!(contact.contains("href=\"mailto:hello@tree.example\""));
    let terms = client.get_plain(200, "/terms").await.text();
    assert!(terms.contains("Tree Fund runs this site") && terms.contains("mailto:hello@tree.example"));
}
