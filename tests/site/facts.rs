//! Finances, tax status and sources on a profile.

use crate::facts::{import_facts, import_list};
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use ingest::ListKind;

on_both_databases!(
    a_profile_shows_finances_and_programs,
    a_profile_names_the_source_of_each_fact,
    a_revoked_nonprofit_has_a_note_and_no_donation_form,
    without_the_store_the_latest_amounts_are_shown,
    several_periods_are_a_chart_and_the_expenses_a_bar,
    a_profile_of_which_only_irs_facts_are_known_says_so_in_sentences_and_asks_to_be_completed,
    a_nonprofit_that_cannot_receive_donations_has_a_note_with_the_reason,
    a_profile_lists_similar_nonprofits_of_the_same_place_and_size,
    similar_nonprofits_mean_about_the_same_and_are_not_chapters_of_one_parent,
    similar_nonprofits_do_work_of_the_same_kind_first,
);

const LIBRARY: &str = "020240383";
const PROFILE: &str = "insert into return_profiles (ein, description, description_period, description_source, website_url, \
     website_period, website_source, formed, revenue, expenses, assets, amounts_period, amounts_source, is_final) values \
     (20240383, 'Lends books to all.', 202506, :source, 'https://granite.example/home', 202506, :source, 1987, 9000000, \
     8000000, 15000000, 202506, :source, false)";
const RETURN: &str = "insert into returns (ein, period, form, object_id, source, facts, digest) values (20240383, 202506, \
     '990', '202341319349301234', :source, '{\"form\":\"990\",\"employees\":1400,\"volunteers\":90,\
     \"programs\":[{\"text\":\"Books on wheels.\",\"expenses\":60000}],\"officers\":[{\"name\":\"Ada Lovelace\",\"title\":\"Treasurer\"}],\"amounts\":{\"revenue\":9000000,\
     \"expenses\":8000000,\"programExpenses\":7000000,\"assets\":15000000,\"netAssets\":13000000}}', 2)";

async fn import_library(world: &World) {
    let row = nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY");
    world.import_irs(bmf(&[row])).await.unwrap();
    let facts = [PROFILE, RETURN];
    import_facts(world, "990", "2025_TEOS_XML_11A.zip", &[LIBRARY], &facts).await;
}

async fn profile(world: &World) -> String {
    world.client.get_plain(200, "/granite-town-library").await.text()
}

async fn a_profile_shows_finances_and_programs(world: &World) {
    import_library(world).await;
    let page = profile(world).await;
    for text in [
        "Lends books to all.",
        "href=\"https://granite.example/home\"",
        ">granite.example<",
        "June 2025<span class=\"small soft second-line\"><a href=\"https://projects.propublica.org/nonprofits/organizations/020240383/202341319349301234/full\" rel=\"noopener nofollow\">Form 990<span class=\"unseen\">, the whole return</span></a></span></th><td class=\"number\">$9M</td><td class=\"number\">$8M</td><td class=\"number\">$7M</td>",
        "Employees: 1,400. Volunteers: 90.",
        "Books on wheels.",
        "<li><bdi>Ada Lovelace</bdi><span class=\"small soft second-line\">Treasurer</span></li>",
        "Expenses: $60,000",
        "Formed in 1987.",
    ] {
        assert!(page.contains(text), "{text} is not on {page}");
    }
    assert!(
        !page.contains("class=\"amounts\""),
        "the table replaces the amounts of the master file"
    );
    assert!(!page.contains("finance-chart"), "one period is no chart");
}

async fn a_profile_names_the_source_of_each_fact(world: &World) {
    import_library(world).await;
    let page = profile(world).await;
    for text in [
        "<dt>Name, EIN, Location, Category, Deductibility</dt><dd>IRS Exempt Organizations Business Master File (eo.csv), imported on ",
        "<dt>Description, Website, Year of formation, Latest revenue</dt><dd>IRS Form 990, 990-EZ or 990-PF for the period ending June 2025 (2025_TEOS_XML_11A.zip), imported on ",
        "<dt>Finances</dt><dd>IRS Form 990 for the period ending June 2025 (return 202341319349301234, 2025_TEOS_XML_11A.zip), imported on ",
    ] {
        assert!(page.contains(text), "{text} is not on {page}");
    }
}

async fn a_revoked_nonprofit_has_a_note_and_no_donation_form(world: &World) {
    import_library(world).await;
    assert!(profile(world).await.contains("granite-town-library/give"));
    let revoked = "020240383|GRANITE TOWN LIBRARY||1 MAIN ST|CONCORD|NH|03301|US|03|15-MAY-2015|10-AUG-2015|";
    import_list(world, ListKind::Revocations, "revocation.txt", &[revoked]).await;
    let listed = "020240383|Granite Town Library|Concord|NH|United States|PC";
    import_list(world, ListKind::Publication78, "pub78.txt", &[listed]).await;
    let page = profile(world).await;
    for text in [
        "The IRS revoked the tax exemption of this organization on May 15, 2015",
        "section 6033(j)",
        "Donations are not tax-deductible.",
        "Listed in IRS Publication 78 as a public charity.",
        "IRS automatic revocation list (revocation.txt), imported on ",
    ] {
        assert!(page.contains(text), "{text} is not on {page}");
    }
    for text in [
        "id=\"give\"",
        "Donations are tax-deductible.",
        "DonateAction",
        "granite-town-library/give",
    ] {
        assert!(!page.contains(text), "{text} is on {page}");
    }
}

async fn without_the_store_the_latest_amounts_are_shown(world: &World) {
    import_library(world).await;
    world.app.db.close().await;
    let page = profile(world).await;
    for text in [
        "Lends books to all.",
        "June 2025</th><td class=\"number\">$9M</td><td class=\"number\">$8M</td><td class=\"number\">—</td>",
        "Formed in 1987.",
    ] {
        assert!(page.contains(text), "{text} is not on {page}");
    }
    assert!(!page.contains("id=\"sources\""));
}

const EARLIER_RETURN: &str = "insert into returns (ein, period, form, object_id, source, facts, digest) values (20240383, \
     202406, '990', '202341319349301233', :source, '{\"form\":\"990\",\"amounts\":{\"revenue\":6000000,\
     \"expenses\":5000000}}', 1)";
const SPLIT_RETURN: &str = "insert into returns (ein, period, form, object_id, source, facts, digest) values (20240383, \
     202506, '990', '202341319349301234', :source, '{\"form\":\"990\",\"amounts\":{\"revenue\":9000000,\
     \"expenses\":8000000,\"programExpenses\":6000000,\"managementExpenses\":1500000,\"fundraisingExpenses\":500000}}', \
     2)";

async fn several_periods_are_a_chart_and_the_expenses_a_bar(world: &World) {
    let row = nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY");
    world.import_irs(bmf(&[row])).await.unwrap();
    let facts = [PROFILE, EARLIER_RETURN, SPLIT_RETURN];
    import_facts(world, "990", "2025_TEOS_XML_11A.zip", &[LIBRARY], &facts).await;
    let page = profile(world).await;
    for text in [
        "<title id=\"chart-title\">Revenue and expenses by period</title>",
        "<title>Revenue, June 2024: $6 million</title>",
        "<title>Expenses, June 2025: $8 million</title>",
        "<caption>Amounts by period</caption>",
        "<span>Programs</span> <strong>75%</strong> <span class=\"soft\">$6 million</span>",
        "<span>Management and general</span> <strong>19%</strong>",
        "<span>Fundraising</span> <strong>6%</strong>",
        "In the period ending June 2025",
    ] {
        assert!(page.contains(text), "{text} is not on {page}");
    }
    assert_eq!(page.matches("<rect class=\"bar-").count(), 4, "{page}");
}

async fn a_profile_of_which_only_irs_facts_are_known_says_so_in_sentences_and_asks_to_be_completed(
    world: &World,
) {
    let row = nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY");
    world.import_irs(bmf(&[row])).await.unwrap();
    let page = profile(world).await;
    let main = page.split_once("<main").unwrap().1;
    for text in [
        "<dt>Type</dt><dd>Public charity <span class=\"small soft\">501(c)(3)</span></dd>",
        "<dt>Category</dt><dd>Libraries</dd>",
        "<dt>Revenue</dt><dd>$64,000 <span class=\"small soft\">December 2024</span></dd>",
        "<dt>Assets</dt><dd>$125,000 <span class=\"small soft\">December 2024</span></dd>",
        "<dt>Tax-exempt since</dt><dd>1994</dd>",
        "href=\"/dashboard/fundraisers/new?nonprofit=granite-town-library\"",
        "href=\"/granite-town-library/report\"",
        "<p>A public charity in Concord, NH",
        "In the period ending December 2024, it reported $64,000 in revenue and $125,000 in assets. It has not described its work here yet.</p>",
        "<a href=\"/granite-town-library/correct\" rel=\"nofollow\">Do you work for this organization?",
    ] {
        assert!(main.contains(text), "{text} is not on {page}");
    }
    assert!(!main.contains("class=\"lead\""), "{page}");
    // The description of the API stays.
    let details = world
        .client
        .get(200, "/v0.2/nonprofit/granite-town-library")
        .await;
    let description = &details.json["data"]["nonprofit"]["description"];
    assert!(
        description.as_str().unwrap().starts_with("A public charity in"),
        "{description}"
    );
}

async fn a_nonprofit_that_cannot_receive_donations_has_a_note_with_the_reason(world: &World) {
    let row =
        |number: &str, name: &str, column: &str, value: &str| nonprofit_row(number, name).with(column, value);
    let rows = [
        row("100000001", "SOCIAL WELFARE", "SUBSECTION", "04"),
        row("100000002", "GRANT MAKER", "FOUNDATION", "04"),
        row("100000003", "NOT DEDUCTIBLE", "DEDUCTIBILITY", "2"),
        row("100000004", "ENDING SOON", "STATUS", "25"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    for (slug, reason) in [
        (
            "social-welfare",
            "exempt under section 501(c)(4) (social welfare organization)",
        ),
        ("grant-maker", "This is a private foundation that makes grants"),
        (
            "not-deductible",
            "Donations to this organization are not tax-deductible, so",
        ),
        ("ending-soon", "organization’s tax exemption is not in force"),
    ] {
        let page = world.client.get_plain(200, &format!("/{slug}")).await.text();
        assert!(page.contains(reason), "{reason} is not on {page}");
        assert!(
            !page.contains("id=\"give\"") && !page.contains("fundraisers/new"),
            "{page}"
        );
    }
    world
        .import_nonprofits(
            "{\"ein\":\"111111112\",\"name\":\"Foreign Aid\",\"websiteUrl\":\"https://aid.example\"}\n",
        )
        .await
        .unwrap();
    let page = world.client.get_plain(200, "/foreign-aid").await.text();
    assert!(
        page.contains("We have no IRS record that this organization is a charity"),
        "{page}"
    );
    assert!(
        page.contains("<a href=\"https://aid.example\" rel=\"noopener nofollow\">Visit its website</a>"),
        "{page}"
    );
}

/// Returns the slugs of the similar nonprofits on a profile, in order.
fn similar(page: &str) -> Vec<&str> {
    let similar = page.split_once("id=\"similar\"").unwrap().1;
    let links = similar.split("<h3><a href=\"/").skip(1);
    links.map(|link| link.split('"').next().unwrap()).collect()
}

async fn a_profile_lists_similar_nonprofits_of_the_same_place_and_size(world: &World) {
    let row = |number: u32, name: &str, city: &str, state: &str, code: &str, revenue: u64| {
        let row = nonprofit_row(&(100_000_000 + number).to_string(), name);
        let row = row.with("CITY", city).with("STATE", state).with("NTEE_CD", code);
        row.with("REVENUE_AMT", &revenue.to_string())
    };
    let mut rows = vec![
        row(1, "GRANITE TOWN LIBRARY", "CONCORD", "NH", "B70", 1_000_000),
        row(2, "CONCORD BOOKS", "CONCORD", "NH", "B70", 1_100_000),
        row(3, "CONCORD SCHOOL", "CONCORD", "NH", "B24", 900_000),
        row(4, "CONCORD ZOO", "CONCORD", "NH", "D50", 1_000_000),
        row(5, "KEENE LIBRARY", "KEENE", "NH", "B70", 1_000_000),
        row(6, "CONCORD MASS LIBRARY", "CONCORD", "MA", "B70", 1_000_000),
    ];
    rows.extend((10..300).map(|number| {
        row(
            number,
            &format!("TINY LIBRARY {number}"),
            "DOVER",
            "NH",
            "B70",
            1_000 + u64::from(number),
        )
    }));
    world.import_irs(bmf(&rows)).await.unwrap();
    let page = profile(world).await;
    let links = similar(&page);
    assert_eq!(
        links[..3],
        ["concord-books", "concord-school", "keene-library"],
        "{page}"
    );
    assert!(
        links.len() == 4 && !links.contains(&"granite-town-library") && !links.contains(&"concord-zoo"),
        "{links:?}"
    );
    assert_eq!(profile(world).await, page);
}

async fn similar_nonprofits_do_work_of_the_same_kind_first(world: &World) {
    let row = |number: u32, name: &str, city: &str, code: &str, subsection: &str| {
        let row = nonprofit_row(&(100_000_000 + number).to_string(), name);
        let row = row.with("CITY", city).with("NTEE_CD", code);
        row.with("SUBSECTION", subsection)
            .with("REVENUE_AMT", &(1_000_000 + number).to_string())
    };
    let rows = [
        row(1, "GRANITE CROSS DISASTER RELIEF", "CONCORD", "P21", "03"),
        row(2, "GRANITE CROSS INSURANCE COMPANY", "CONCORD", "P21", "15"),
        row(3, "GRANITE CROSS HEALTH PLAN", "CONCORD", "E80", "03"),
        row(4, "SOUP KITCHEN", "CONCORD", "P35", "03"),
        row(5, "KEENE FAMILY SHELTER", "KEENE", "P40", "03"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    let page = world
        .client
        .get_plain(200, "/granite-cross-disaster-relief")
        .await
        .text();
    let links = similar(&page);
    assert_eq!(links[..2], ["soup-kitchen", "keene-family-shelter"], "{links:?}");
    assert!(!links.contains(&"granite-cross-insurance-company"), "{links:?}");
}

async fn similar_nonprofits_mean_about_the_same_and_are_not_chapters_of_one_parent(world: &World) {
    let row = |number: u32, name: &str, group: &str| {
        let row = nonprofit_row(&(100_000_000 + number).to_string(), name);
        let row = row.with("NTEE_CD", "D20").with("GROUP", group);
        row.with("REVENUE_AMT", &(1_000_000 + number).to_string())
    };
    let mut rows = vec![
        row(1, "GRANITE KITTEN RESCUE", "0000"),
        row(2, "EQUESTRIAN TRAIL RIDERS", "0000"),
        row(3, "POULTRY SHOW JUDGES", "0000"),
        row(900, "STRAY CAT ADOPTION HOUSE", "0000"),
    ];
    let names = ["ELM", "OAK", "PINE", "BIRCH", "MAPLE", "CEDAR"];
    rows.extend(names.iter().zip(10..).map(|(name, number)| {
        let name = format!("{name} LODGE OF KITTEN RESCUERS");
        row(number, &name, "1234")
    }));
    world.import_irs(bmf(&rows)).await.unwrap();
    let page = world.client.get_plain(200, "/granite-kitten-rescue").await.text();
    let links = similar(&page);
    let chapters = links.iter().filter(|link| link.ends_with("kitten-rescuers"));
    assert_eq!(chapters.count(), 1, "{links:?}");
    let position = |slug: &str| links.iter().position(|link| *link == slug);
    assert_eq!(position("stray-cat-adoption-house"), Some(1), "{links:?}");
    assert!(
        position("stray-cat-adoption-house") < position("equestrian-trail-riders"),
        "{links:?}"
    );
    assert!(position("equestrian-trail-riders").is_some(), "{links:?}");
}
