//! The documentation for developers: guides, search, reference and collection.

use crate::dashboard::visitor::Visitor;
use crate::world::World;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

on_both_databases!(
    every_link_of_the_documentation_leads_somewhere,
    samples_contain_the_key_of_the_reader,
    the_documentation_can_be_searched,
    every_guide_is_available_as_markdown_and_listed_for_ai_applications,
    the_snippet_of_a_search_box_contains_the_key_of_the_reader,
    the_reference_has_a_console_for_every_operation,
    the_type_of_a_problem_is_the_link_to_its_description,
);

/// Returns the values of an attribute.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    let parts = html.split(start.as_str()).skip(1);
    parts.filter_map(|part| part.split('"').next()).collect()
}

async fn every_link_of_the_documentation_leads_somewhere(world: &World) {
    world.load_demo().await;
    let mut pages: HashMap<String, String> = HashMap::new();
    let mut open = vec!["/developers".to_owned()];
    let mut anchors = BTreeSet::new();
    while let Some(path) = open.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let is_documentation = path.starts_with("/developers");
        let (status, response) = world.client.get_any(&path).await;
        assert!([200, 303].contains(&status), "{path}: {status}");
        let html = response.text();
        if is_documentation {
            for link in attributes(&html, "href") {
                if link.starts_with("http") || link.starts_with("/assets/") || link.contains('?') {
                    continue;
                }
                let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = if target.is_empty() { &path } else { target };
                if !anchor.is_empty() && target.starts_with("/developers") {
                    anchors.insert((path.clone(), target.to_owned(), anchor.to_owned()));
                }
                open.push(target.to_owned());
            }
        }
        pages.insert(path, html);
    }
    assert!(pages.len() > 25, "{:?}", pages.keys());
    // Crawlers find every guide.
    let sitemap = world.client.get_plain(200, "/sitemaps/pages.xml").await.text();
    let guides = pages.keys().filter(|path| {
        let is_page = *path != "/developers/postman.json" && !path.starts_with("/developers/reference/");
        path.starts_with("/developers") && is_page && !path.contains(".md") && *path != "/developers/search"
    });
    for guide in guides {
        assert!(sitemap.contains(&format!("{guide}</loc>")), "{guide}");
    }
    for (page, target, anchor) in anchors {
        let ids = attributes(&pages[&target], "id");
        assert!(
            ids.contains(&anchor.as_str()),
            "{page} links to {target}#{anchor}"
        );
    }
    world.client.get_plain(404, "/developers/no-such-page").await;
    world.client.get_plain(404, "/developers/reference/nothing").await;
}

async fn samples_contain_the_key_of_the_reader(world: &World) {
    let anonymous = world.client.get_plain(200, "/developers/quick-start").await;
    assert_eq!(anonymous.header("cache-control"), "no-cache");
    assert_eq!(anonymous.header("vary"), "Cookie");
    let html = anonymous.text();
    assert!(html.contains("apiKey=PUBLIC_KEY") && html.contains("href=\"/dashboard/sign-in\""));
    assert!(html.contains(world.app.site.urls.public()) && !html.contains("causeway.example"));
    for language in ["curl", "javascript", "python", "go", "php", "ruby"] {
        assert!(
            html.contains(&format!("class=\"sample-code code-{language}\"")),
            "{language}"
        );
    }
    let reader = Visitor::new(world);
    reader.sign_up("reader").await;
    let page = reader.get(200, "/developers/quick-start").await;
    assert_eq!(page.header("cache-control"), "private, no-cache");
    assert!(
        page.text().contains("apiKey=PUBLIC_KEY") && page.text().contains("href=\"/dashboard/keys/new\"")
    );
    let key = reader.create_key("public", "website").await;
    let page = reader.get(200, "/developers/quick-start").await;
    assert_eq!(page.header("cache-control"), "private, no-cache");
    assert!(page.text().contains(&format!("apiKey={key}")) && !page.text().contains("PUBLIC_KEY"));
    let page = reader.get(200, "/developers/reference/search").await;
    assert!(page.text().contains(&format!("value=\"{key}\"")));
    assert!(
        page.text().contains(&format!("apiKey={key}&#34;")),
        "the sample has it too"
    );
}

async fn every_guide_is_available_as_markdown_and_listed_for_ai_applications(world: &World) {
    let list = world.client.get_plain(200, "/llms.txt").await;
    assert_eq!(list.header("content-type"), "text/plain; charset=utf-8");
    let list = list.text();
    assert!(list.starts_with("# ") && list.contains("\n> ") && list.contains("/v0.2/openapi.json)"));
    let base = world.app.site.urls.public();
    let guides: Vec<&str> = list
        .split(&format!("]({base}"))
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap())
        .filter(|path| path.contains(".md"))
        .collect();
    assert!(guides.len() >= 20, "{guides:?}");
    for path in &guides {
        let guide = world.client.get_plain(200, path).await;
        assert_eq!(guide.header("content-type"), "text/markdown; charset=utf-8");
        let text = guide.text();
        assert!(
            text.starts_with("# ") && !text.contains("causeway.example"),
            "{path}: {text}"
        );
        assert!(!text.contains("](samples/"), "{path}: {text}");
        let page = path.strip_suffix(".md").unwrap().trim_end_matches("/index");
        let html = world.client.get_plain(200, page).await.text();
        assert!(
            html.contains(&format!("type=\"text/markdown\" href=\"{path}\"")),
            "{path}"
        );
        // Links between guides lead to their Markdown versions.
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|link| link.split([')', '#']).next())
        {
            let is_guide = link.contains(".md") && !link.contains('/');
            let target = format!("/developers/{link}");
            assert!(!is_guide || guides.contains(&target.as_str()), "{path}: {link}");
        }
    }
    let quick_start = world
        .client
        .get_plain(200, "/developers/quick-start.md")
        .await
        .text();
    assert!(quick_start.contains("```sh\ncurl \"") && quick_start.contains("/v0.2/nonprofit/530196605?"));
    world.client.get_plain(404, "/developers/nothing.md").await;
}

async fn the_snippet_of_a_search_box_contains_the_key_of_the_reader(world: &World) {
    let url = "/developers/embed?kind=search";
    let anonymous = world.client.get_plain(200, url).await;
    assert_eq!(anonymous.header("cache-control"), "no-cache");
    assert!(anonymous.text().contains("The search box needs a public key."));
    let reader = Visitor::new(world);
    reader.sign_up("reader").await;
    let key = reader.create_key("public", "website").await;
    let page = reader.get(200, url).await;
    assert_eq!(page.header("cache-control"), "private, no-cache");
    let page = page.text();
    assert!(
        page.contains(&format!("name=\"key\" type=\"text\" value=\"{key}\"")),
        "{page}"
    );
    assert!(page.contains("id=\"snippet\""), "{page}");
    let typed = reader.get(200, &format!("{url}&key=nonsense")).await.text();
    assert!(
        typed.contains("value=\"nonsense\"") && !typed.contains(&key),
        "{typed}"
    );
}

async fn the_documentation_can_be_searched(world: &World) {
    let first = async |query: &str| -> String {
        let page = world
            .client
            .get_plain(200, &format!("/developers/search?q={query}"))
            .await
            .text();
        let (_, results) = page.split_once("docs-results").unwrap_or(("", ""));
        attributes(results, "href")
            .first()
            .map_or(String::new(), |url| (*url).to_owned())
    };
    assert_eq!(first("rate_limited").await, "/developers/errors#rate_limited");
    assert_eq!(first("quick+sta").await, "/developers/quick-start");
    assert!(
        first("donate+links")
            .await
            .starts_with("/developers/donate-links-and-embeds")
    );
    assert_eq!(first("create+a+fundraiser").await, "/developers/reference/create");
    assert!(
        first("suggestedAmounts")
            .await
            .starts_with("/developers/donate-links-and-embeds")
    );
    assert_eq!(
        first("CORS").await,
        "/developers/authentication#call-the-api-from-a-web-page-cors"
    );
    assert!(first("typo").await.starts_with("/developers/search-as-you-type"));
    let live = world
        .client
        .get_plain(200, "/developers/search.json?q=cors")
        .await
        .json;
    assert_eq!(
        live["results"][0]["url"],
        "/developers/authentication#call-the-api-from-a-web-page-cors"
    );
    assert!(live["status"].as_str().unwrap().ends_with("results"), "{live}");
    let nothing = world
        .client
        .get_plain(200, "/developers/search.json?q=zzqqxx")
        .await;
    assert_eq!(nothing.json["results"].as_array().unwrap().len(), 0);
    assert_eq!(first("zzqqxx").await, "");
    let page = world
        .client
        .get_plain(200, "/developers/search?q=%3Cb%3E")
        .await
        .text();
    assert!(!page.contains("<b>"));
    world.client.get_plain(200, "/developers/search").await;
}

async fn the_reference_has_a_console_for_every_operation(world: &World) {
    let description = world.client.get_plain(200, "/v0.2/openapi.json").await.json;
    let index = world.client.get_plain(200, "/developers/reference").await.text();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let url = format!("/developers/reference/{id}");
            assert!(index.contains(&format!("href=\"{url}\"")), "{id}");
            let page = world.client.get_plain(200, &url).await.text();
            assert!(
                page.contains(&format!("data-method=\"{}\"", method.to_uppercase())),
                "{id}"
            );
            assert!(page.contains(&format!("data-path=\"{path}\"")), "{id}");
            for language in ["curl", "javascript", "python"] {
                assert!(
                    page.contains(&format!("sample-code code-{language}")),
                    "{id} {language}"
                );
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let field = format!("name=\"{}\"", parameter["name"].as_str().unwrap());
                assert!(page.contains(&field), "{id} {field}");
            }
            // A form that is sent without JavaScript must not put a private key into the URL.
            assert!(!page.contains("name=\"privateKey\""), "{id}");
        }
    }
    let built = world
        .client
        .get_plain(
            200,
            "/developers/reference/search?apiKey=cwpk_x&searchTerm=red+cross&take=5",
        )
        .await
        .text();
    assert!(
        built.contains("href=\"/v0.2/search/red%20cross?take=5&#38;apiKey=cwpk_x\""),
        "{built}"
    );
    let collection = world.client.get_plain(200, "/developers/postman.json").await.json;
    assert_eq!(
        collection["variable"][0]["value"],
        Value::from(world.app.site.urls.public())
    );
}

async fn the_type_of_a_problem_is_the_link_to_its_description(world: &World) {
    let problem = world.client.details(404, "no-such-nonprofit").await.json;
    let link = problem["type"].as_str().unwrap();
    let (page, anchor) = link.split_once('#').unwrap();
    let path = page.strip_prefix(world.app.site.urls.public()).unwrap();
    let html = world.client.get_plain(200, path).await.text();
    assert!(html.contains(&format!("id=\"{anchor}\"")), "{link}");
}
