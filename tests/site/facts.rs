//! Finances, tax status and sources on a profile.

use crate::facts::{import_facts, import_list};
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use directory::import::ListKind;

on_both_databases!(
    a_profile_shows_finances_and_programs,
    a_profile_names_the_source_of_each_fact,
    a_revoked_nonprofit_has_a_note_and_no_donation_form,
    without_the_store_the_latest_amounts_are_shown,
);

const LIBRARY: &str = "020240383";
const PROFILE: &str = "insert into return_profiles (ein, description, description_period, description_source, website_url, \
     website_period, website_source, formed, revenue, expenses, assets, amounts_period, amounts_source, is_final) values \
     (20240383, 'Lends books to all.', 202506, :source, 'https://granite.example/home', 202506, :source, 1987, 9000000, \
     8000000, 15000000, 202506, :source, false)";
const RETURN: &str = "insert into returns (ein, period, form, object_id, source, facts, digest) values (20240383, 202506, \
     '990', '202341319349301234', :source, '{\"form\":\"990\",\"employees\":1400,\"volunteers\":90,\
     \"programs\":[{\"text\":\"Books on wheels.\",\"expenses\":60000}],\"amounts\":{\"revenue\":9000000,\
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
        "June 2025<span class=\"small soft second-line\">Form 990</span></th><td class=\"number\">$9M</td><td class=\"number\">$8M</td><td class=\"number\">$7M</td>",
        "Employees: 1,400. Volunteers: 90.",
        "Books on wheels.",
        "Expenses: $60,000",
        "Formed in 1987.",
    ] {
        assert!(page.contains(text), "{text} is not on {page}");
    }
    assert!(
        !page.contains("class=\"amounts\""),
        "the table replaces the chart"
    );
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
