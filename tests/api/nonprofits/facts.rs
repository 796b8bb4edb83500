//! What the IRS files besides the master file add to a nonprofit, and the sources of its fields.

use crate::client::Response;
use crate::facts::{SHA256, import_facts, import_list, record_facts};
use crate::files::{bmf, nonprofit_row};
use crate::world::{World, check_directory};
use causeway::api::bodies::DetailsBody;
use ingest::ListKind;
use serde_json::{Value, json};

on_both_databases!(
    an_operator_comes_before_the_irs_and_the_newer_before_the_older,
    a_return_decides_only_the_capitals_of_a_name,
    a_revoked_nonprofit_is_kept_and_cannot_receive_donations,
    a_reinstated_nonprofit_can_receive_donations,
    publication_78_is_shown_and_decides_nothing,
    every_field_has_a_source,
    any_other_value_of_include_is_refused,
    a_single_changed_nonprofit_reaches_a_running_server,
    without_a_snapshot_the_same_facts_are_shown,
    the_latest_revenue_known_ranks_nonprofits,
    a_mission_and_a_website_in_a_return_are_found,
    a_program_in_the_latest_return_is_found,
    a_nonprofit_that_files_form_990_pf_is_described_as_a_private_foundation,
    without_the_store_only_sources_are_unavailable,
);

const LIBRARY: &str = "020240383";
const SHELTER: &str = "020240391";

const RETURN: &str = "insert into return_profiles (ein, name, aliases, description, description_long, description_period, \
     description_source, website_url, website_period, website_source, formed, revenue, expenses, assets, amounts_period, \
     amounts_source, is_final) values (20240383, 'GRANITE Town Library', 'The Book Nook', 'Lends books to all.', \
     'Lends books to all, and reads to children on Saturdays.', 202506, :source, 'https://granite.example', 202506, :source, \
     1987, 90000, 80000, 150000, 202506, :source, false)";
const REVOKED: &str =
    "020240383|GRANITE TOWN LIBRARY||1 MAIN ST|CONCORD|NH|03301-1234|US|03|15-MAY-2015|10-AUG-2015|";
const REINSTATED: &str = "020240383|GRANITE TOWN LIBRARY||1 MAIN ST|CONCORD|NH|03301-1234|US|03|15-MAY-2015|10-AUG-2015|15-MAY-2015";
const PUBLICATION_78: &str = "020240383|Granite Town Library|Concord|NH|United States|PC,GROUP";

/// The Form 990-N of a year with a website.
fn epostcard(year: u16, website: &str) -> String {
    format!(
        "020240383|{year}|GRANITE TOWN LIBRARY|T|F|01-01-{year}|12-31-{year}|{website}|P|A||Concord||NH|03301|US|\
         A||Concord||NH|03301|US|||"
    )
}

async fn import_library(world: &World) {
    let rows = [
        nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY"),
        nonprofit_row(SHELTER, "GRANITE ANIMAL SHELTER"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
}

async fn import_return(world: &World) {
    import_facts(world, "990", "2025_TEOS_XML_11A.zip", &[LIBRARY], &[RETURN]).await;
}

async fn sources(world: &World) -> Response {
    let response = world
        .client
        .details(200, &format!("{LIBRARY}?include=sources"))
        .await;
    let _: DetailsBody = serde_json::from_value(response.json.clone()).unwrap();
    response
}

async fn an_operator_comes_before_the_irs_and_the_newer_before_the_older(world: &World) {
    import_library(world).await;
    let generated = world.client.details(200, LIBRARY).await;
    assert!(
        generated.nonprofit()["description"]
            .as_str()
            .unwrap()
            .starts_with("A public charity in Concord, NH")
    );
    assert!(generated.nonprofit().get("websiteUrl").is_none());
    let older = epostcard(2024, "WWW.OLDER.ORG");
    import_list(world, ListKind::Epostcards, "epostcard.txt", &[&older]).await;
    let small = world.client.details(200, LIBRARY).await;
    assert_eq!(small.nonprofit()["websiteUrl"], "https://www.older.org");
    import_return(world).await;
    let filed = world.client.details(200, LIBRARY).await;
    assert_eq!(filed.nonprofit()["description"], "Lends books to all.");
    assert_eq!(
        filed.nonprofit()["descriptionLong"],
        "Lends books to all, and reads to children on Saturdays."
    );
    assert_eq!(filed.nonprofit()["websiteUrl"], "https://granite.example");
    let line = format!(
        r#"{{"ein":"{LIBRARY}","description":"Our library.","websiteUrl":"https://library.example"}}"#
    );
    world.import_nonprofits(&line).await.unwrap();
    let ours = world.client.details(200, LIBRARY).await;
    assert_eq!(ours.nonprofit()["description"], "Our library.");
    assert_eq!(ours.nonprofit()["websiteUrl"], "https://library.example");
    let clear = format!(r#"{{"ein":"{LIBRARY}","description":null,"websiteUrl":null}}"#);
    world.import_nonprofits(&clear).await.unwrap();
    let again = world.client.details(200, LIBRARY).await;
    assert_eq!(again.nonprofit()["description"], "Lends books to all.");
    let newer = epostcard(2025, "www.newer.org");
    import_list(world, ListKind::Epostcards, "epostcard.txt", &[&newer]).await;
    let newest = world.client.details(200, LIBRARY).await;
    assert_eq!(newest.nonprofit()["websiteUrl"], "https://www.newer.org");
}

async fn a_return_decides_only_the_capitals_of_a_name(world: &World) {
    import_library(world).await;
    import_return(world).await;
    let response = world.client.details(200, LIBRARY).await;
    assert_eq!(response.nonprofit()["name"], "GRANITE Town Library");
    assert_eq!(response.nonprofit()["primarySlug"], "granite-town-library");
    // A trade name is an alias.
    let found = world.client.get(200, "/v0.2/search/book%20nook").await;
    assert_eq!(found.json["nonprofits"][0]["ein"], LIBRARY);
    let other = "update return_profiles set name = 'Granite State Readers'";
    import_facts(world, "990", "a.xml", &[LIBRARY], &[other]).await;
    let response = world.client.details(200, LIBRARY).await;
    assert_eq!(response.nonprofit()["name"], "Granite Town Library");
}

async fn a_revoked_nonprofit_is_kept_and_cannot_receive_donations(world: &World) {
    import_library(world).await;
    assert_eq!(
        world.client.details(200, LIBRARY).await.nonprofit()["isDisbursable"],
        true
    );
    import_list(world, ListKind::Revocations, "revocation.txt", &[REVOKED]).await;
    let response = sources(world).await;
    assert_eq!(response.nonprofit()["isDisbursable"], false);
    let data = &response.json["data"];
    assert_eq!(data["irs"]["deductible"], false);
    assert_eq!(data["irs"]["revocation"]["active"], true);
    assert_eq!(data["irs"]["revocation"]["revokedOn"], "2015-05-15");
    assert!(
        data["irs"]["revocation"]["reason"]
            .as_str()
            .unwrap()
            .contains("6033(j)")
    );
    assert_eq!(data["sources"]["revocation"]["source"], "irs-revocations");
    assert_eq!(data["sources"]["revocation"]["file"], "revocation.txt");
    let found = world.client.get(200, "/v0.2/search/granite%20town").await;
    assert_eq!(
        found.json["nonprofits"][0]["ein"], LIBRARY,
        "kept in the directory"
    );
    let other = world.client.details(200, SHELTER).await;
    assert_eq!(other.nonprofit()["isDisbursable"], true);
}

async fn a_reinstated_nonprofit_can_receive_donations(world: &World) {
    import_library(world).await;
    import_list(world, ListKind::Revocations, "revocation.txt", &[REVOKED]).await;
    assert_eq!(sources(world).await.nonprofit()["isDisbursable"], false);
    import_list(world, ListKind::Revocations, "revocation.txt", &[REINSTATED]).await;
    let response = sources(world).await;
    assert_eq!(response.nonprofit()["isDisbursable"], true);
    let revocation = &response.json["data"]["irs"]["revocation"];
    assert_eq!(
        (&revocation["active"], &revocation["reinstatedOn"]),
        (&json!(false), &json!("2015-05-15"))
    );
}

async fn publication_78_is_shown_and_decides_nothing(world: &World) {
    import_library(world).await;
    import_list(world, ListKind::Publication78, "pub78.txt", &[PUBLICATION_78]).await;
    let response = sources(world).await;
    let irs = &response.json["data"]["irs"];
    assert_eq!(
        irs["deductibility"][0],
        json!({"code": "PC", "meaning": "a public charity"})
    );
    assert_eq!(irs["deductibility"][1]["code"], "GROUP");
    assert_eq!(irs["deductible"], true);
    assert_eq!(
        response.json["data"]["sources"]["deductibility"]["source"],
        "irs-pub78"
    );
    // Publication 78 does not list the subordinates of a group.
    let absent = world
        .client
        .details(200, &format!("{SHELTER}?include=sources"))
        .await;
    assert_eq!(absent.nonprofit()["isDisbursable"], true);
    assert_eq!(absent.json["data"]["irs"]["deductible"], true);
    assert_eq!(absent.json["data"]["irs"]["deductibility"], json!([]));
    assert_eq!(
        absent.json["data"]["sources"]["deductibility"]["source"],
        "irs-bmf"
    );
}

async fn every_field_has_a_source(world: &World) {
    import_library(world).await;
    import_return(world).await;
    let line = format!(r#"{{"ein":"{LIBRARY}","causes":["education"],"description":"Our library."}}"#);
    world.import_nonprofits(&line).await.unwrap();
    let response = sources(world).await;
    let sources = &response.json["data"]["sources"];
    let master = &sources["ein"];
    assert_eq!(master["source"], "irs-bmf");
    assert_eq!(master["file"], "eo.csv");
    assert_eq!(master["sha256"].as_str().unwrap().len(), 64);
    assert!(master["importedAt"].as_str().unwrap().ends_with('Z'));
    for field in ["locationAddress", "nteeCode", "deductibility"] {
        assert_eq!(&sources[field], master, "{field}");
    }
    assert_eq!(sources["description"]["source"], "operator");
    assert_eq!(sources["description"]["file"], "more.jsonl");
    assert_eq!(sources["nonprofitTags"]["source"], "operator");
    assert_eq!(sources["logoUrl"], json!({"source": "generated"}));
    for field in [
        "name",
        "descriptionLong",
        "websiteUrl",
        "revenue",
        "formationYear",
    ] {
        let source = &sources[field];
        assert_eq!(source["source"], "irs-990", "{field}");
        assert_eq!(source["file"], "2025_TEOS_XML_11A.zip", "no folders");
        assert_eq!(source["sha256"], SHA256);
        assert_eq!(source["period"], "2025-06");
    }
    let irs = &response.json["data"]["irs"];
    assert_eq!(
        (&irs["revenue"], &irs["formationYear"]),
        (&json!(90_000), &json!(1987))
    );
    // Without the parameter, the response is as before.
    let plain = world.client.details(200, LIBRARY).await;
    let names: Vec<&String> = plain.json["data"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["nonprofit", "nonprofitTags"]);
    assert_eq!(plain.json["data"]["nonprofit"], *response.nonprofit());
    // Of several files of one import, it is not known which one lists a nonprofit.
    let files = [
        world.file("eo1.csv", bmf(&[nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY")])),
        world.file(
            "eo2.csv",
            bmf(&[nonprofit_row(SHELTER, "GRANITE ANIMAL SHELTER")]),
        ),
    ];
    world.import_irs_files(&files, false).await.unwrap();
    let response = self::sources(world).await;
    let several = &response.json["data"]["sources"]["ein"];
    assert_eq!(several.get("file"), None);
    let names: Vec<&Value> = several["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| &file["file"])
        .collect();
    assert_eq!(names, ["eo1.csv", "eo2.csv"]);
}

async fn any_other_value_of_include_is_refused(world: &World) {
    import_library(world).await;
    for query in [
        "include=finances",
        "include=",
        "include",
        "include=sources&include=x",
        "include=Sources",
    ] {
        let response = world.client.details(400, &format!("{LIBRARY}?{query}")).await;
        assert_eq!(response.code(), "invalid_parameter", "{query}");
    }
    world.client.details(404, "000000000?include=sources").await;
    let tag = sources(world).await.header("etag").to_owned();
    let path = format!("/v0.2/nonprofit/{LIBRARY}?include=sources");
    world
        .client
        .get_with(304, &path, &[("if-none-match", &tag)])
        .await;
}

async fn a_single_changed_nonprofit_reaches_a_running_server(world: &World) {
    import_library(world).await;
    let snapshots = world.snapshots();
    let counts = world.app.directory.view().counts().unwrap();
    assert_eq!((counts.nonprofits, counts.with_website), (2, 0));
    record_facts(world, "990", "a.xml", &[LIBRARY], &[RETURN]).await;
    world.app.refresh_directory().await.unwrap();
    assert_eq!(world.snapshots(), snapshots, "an overlay, without a new snapshot");
    let response = world.client.details(200, LIBRARY).await;
    assert_eq!(response.nonprofit()["description"], "Lends books to all.");
    let counts = world.app.directory.view().counts().unwrap();
    assert_eq!(
        (counts.nonprofits, counts.with_website, counts.with_finances),
        (2, 1, 1)
    );
    assert_eq!(
        check_directory(&world.app).await.unwrap().differences,
        Vec::<String>::new()
    );
    world.app.directory.rebuild().await.unwrap();
    assert_ne!(world.snapshots(), snapshots);
    assert_eq!(world.app.directory.view().counts().unwrap(), counts);
    let rebuilt = world.client.details(200, LIBRARY).await;
    assert_eq!(rebuilt.json, response.json);
}

async fn without_a_snapshot_the_same_facts_are_shown(world: &World) {
    import_library(world).await;
    import_return(world).await;
    import_list(world, ListKind::Publication78, "pub78.txt", &[PUBLICATION_78]).await;
    import_list(world, ListKind::Revocations, "revocation.txt", &[REVOKED]).await;
    let expected = world.client.details(200, LIBRARY).await;
    std::fs::remove_dir_all(world.data().join("directory")).unwrap();
    let (app, client) = world.restart().await;
    assert!(!app.directory.has_snapshot());
    let found = client.details(200, LIBRARY).await;
    assert_eq!(found.json, expected.json);
    app.db.close().await;
}

async fn the_latest_revenue_known_ranks_nonprofits(world: &World) {
    import_library(world).await;
    let first = async || {
        let found = world.client.get(200, "/v0.2/search/granite").await;
        found.json["nonprofits"][0]["ein"].clone()
    };
    let large = "update return_profiles set revenue = 9000000000, amounts_period = 202506, ein = 20240391";
    import_facts(world, "990", "a.xml", &[SHELTER], &[RETURN, large]).await;
    assert_eq!(first().await, SHELTER);
    // The master file has a newer period than this return.
    let older = "update return_profiles set amounts_period = 202306, revenue = 1, assets = 1, ein = 20240391";
    let newer = "update return_profiles set ein = 20240383, revenue = 9000000000";
    import_facts(world, "990", "a.xml", &[SHELTER, LIBRARY], &[newer]).await;
    assert_eq!(first().await, LIBRARY);
    import_facts(world, "990", "a.xml", &[SHELTER, LIBRARY], &[older]).await;
    let by_name = world.client.get(200, "/v0.2/search/granite").await;
    assert_eq!(
        by_name.json["nonprofits"][0]["ein"], SHELTER,
        "equal again, so sorted by name"
    );
}

async fn without_the_store_only_sources_are_unavailable(world: &World) {
    import_library(world).await;
    import_return(world).await;
    world.client.details(200, LIBRARY).await;
    world.app.db.close().await;
    let response = world.client.details(200, LIBRARY).await;
    assert_eq!(response.nonprofit()["description"], "Lends books to all.");
    let path = format!("/v0.2/nonprofit/{LIBRARY}");
    for path in [format!("{path}?include=sources"), format!("{path}/finances")] {
        assert_eq!(world.client.get(503, &path).await.code(), "unavailable", "{path}");
    }
}

async fn a_mission_and_a_website_in_a_return_are_found(world: &World) {
    import_library(world).await;
    import_return(world).await;
    for (typed, terms) in [
        ("reads%20children", vec!["reads", "children"]),
        ("concord%20saturday", vec!["concord", "saturday"]),
        ("granite.example", vec!["granite.example"]),
        (
            "https%3A%2F%2Fgranite.example%2Fbooks",
            vec!["https://granite.example/books"],
        ),
    ] {
        let found = world.client.get(200, &format!("/v0.2/search/{typed}")).await;
        let first = &found.json["nonprofits"][0];
        assert_eq!(first["ein"], LIBRARY, "{typed}");
        assert_eq!(first["matchedTerms"], json!(terms), "{typed}");
    }
    let unknown = world.client.get(200, "/v0.2/search/02-0240384").await;
    assert_eq!(unknown.json["nonprofits"], json!([]));
}

async fn a_program_in_the_latest_return_is_found(world: &World) {
    import_library(world).await;
    let filed = |period: u32, program: &str| {
        format!(
            "insert into returns (ein, period, form, object_id, source, facts, digest) \
             values (20240383, {period}, '990', '', :source, '{{\"programs\":[{{\"text\":\"{program}\"}}]}}', 0)"
        )
    };
    let statements = [
        RETURN,
        &filed(202_406, "Xylophone concerts."),
        &filed(202_506, "Story time on wheels."),
    ];
    import_facts(world, "990", "a.xml", &[LIBRARY], &statements).await;
    let found = world.client.get(200, "/v0.2/search/story%20wheels").await;
    let first = &found.json["nonprofits"][0];
    assert_eq!(first["ein"], LIBRARY);
    assert_eq!(first["matchedTerms"], json!(["story", "wheels"]));
    let page = world.client.get_plain(200, "/search?q=story+wheels").await.text();
    let text = "<mark>Story</mark> time on <mark>wheels</mark>.";
    assert!(page.contains(text), "{page}");
    let earlier = world.client.get(200, "/v0.2/search/xylophone").await;
    assert_eq!(earlier.json["nonprofits"], json!([]));
}

async fn a_nonprofit_that_files_form_990_pf_is_described_as_a_private_foundation(world: &World) {
    import_library(world).await;
    let without_mission = "update return_profiles set description = null, description_long = null";
    let filed = |period: u32, form: &str| {
        format!(
            "insert into returns (ein, period, form, object_id, source, facts, digest) \
             values (20240383, {period}, '{form}', '', :source, '{{}}', 0)"
        )
    };
    let statements = [
        RETURN,
        without_mission,
        &filed(202_406, "990"),
        &filed(202_506, "990-PF"),
    ];
    import_facts(world, "990", "a.xml", &[LIBRARY], &statements).await;
    let description = |response: &Response| response.nonprofit()["description"].as_str().unwrap().to_owned();
    let foundation = world.client.details(200, LIBRARY).await;
    assert!(description(&foundation).starts_with("A private foundation in Concord, NH"));
    let statements = [filed(202_606, "990")];
    import_facts(world, "990", "b.xml", &[LIBRARY], &[&statements[0]]).await;
    let charity = world.client.details(200, LIBRARY).await;
    assert!(description(&charity).starts_with("A public charity in Concord, NH"));
}
