//! `causeway import nonprofits`: what people say of a nonprofit beyond the IRS.

use crate::files::{bmf, bodies, body};
use crate::world::World;
use directory::import::Summary;

fn counts(summary: &Summary) -> [u64; 4] {
    [summary.new, summary.changed, summary.unchanged, summary.refused]
}

on_both! {
    async fn a_profile_is_told_by_ein_or_id_and_shows_at_once(world: &World) {
        world.import_irs(bmf(&[body("020240383", "GRANITE TOWN LIBRARY")])).await.unwrap();
        let snapshots = world.snapshots();
        let line = r#"{"ein":"020240383","name":"Granite Library","description":"Lends books.","descriptionLong":"One.\nTwo.",
            "websiteUrl":"https://library.example.org","causes":["libraries","Education"],"logoUrl":"https://library.example.org/logo.png"}"#;
        assert_eq!(counts(&world.import_nonprofits(&line.replace('\n', " ")).await.unwrap()), [0, 1, 0, 0]);
        assert_eq!(world.snapshots(), snapshots, "a small change needs no new snapshot");
        assert_eq!(world.app.directory.view().overlay.len(), 1);
        let answer = world.client.details(200, "granite-library").await;
        let nonprofit = answer.nonprofit();
        assert_eq!(nonprofit["name"], "Granite Library");
        assert_eq!(nonprofit["description"], "Lends books.");
        assert!(nonprofit["descriptionLong"].as_str().unwrap().starts_with("One."));
        assert_eq!(nonprofit["websiteUrl"], "https://library.example.org");
        assert_eq!(nonprofit["logoUrl"], "https://library.example.org/logo.png");
        let tags = answer.json["data"]["nonprofitTags"].as_array().unwrap();
        let mut tags: Vec<_> = tags.iter().map(|tag| tag["tagName"].as_str().unwrap()).collect();
        tags.sort_unstable();
        assert_eq!(tags, ["education", "libraries"]);

        let line = format!(r#"{{"id":{},"description":"Lends books and tools."}}"#, nonprofit["id"]);
        assert_eq!(counts(&world.import_nonprofits(&line).await.unwrap()), [0, 1, 0, 0]);
        let again = world.client.details(200, "020240383").await;
        assert_eq!(again.nonprofit()["description"], "Lends books and tools.");
        assert_eq!(again.nonprofit()["websiteUrl"], "https://library.example.org");
        // The slug of its filed name finds it still.
        assert_eq!(world.client.details(200, "granite-town-library").await.body, again.body);
    }

    async fn null_clears_and_what_is_left_out_stays(world: &World) {
        world.load_demo().await;
        let before = world.client.details(200, "530196605").await;
        let line = r#"{"ein":"530196605","websiteUrl":null,"descriptionLong":null,"description":" ","causes":null}"#;
        assert_eq!(counts(&world.import_nonprofits(line).await.unwrap()), [0, 1, 0, 0]);
        let after = world.client.details(200, "530196605").await;
        let nonprofit = after.nonprofit().as_object().unwrap();
        assert!(!nonprofit.contains_key("websiteUrl"));
        assert!(nonprofit["descriptionLong"].is_null());
        assert!(nonprofit["description"].as_str().unwrap().contains("Washington, DC"));
        assert_eq!(nonprofit["name"], before.nonprofit()["name"]);
        assert!(!after.json["data"]["nonprofitTags"].as_array().unwrap().is_empty(), "causes follow from NTEE again");
        assert_eq!(counts(&world.import_nonprofits(line).await.unwrap()), [0, 0, 1, 0]);
    }

    async fn a_profile_survives_the_imports_of_the_irs(world: &World) {
        let rows = bodies(20);
        world.import_irs(bmf(&rows)).await.unwrap();
        let line = r#"{"ein":"100000003","name":"Harbor House","websiteUrl":"https://harbor.example.org"}"#;
        world.import_nonprofits(line).await.unwrap();
        assert_eq!(world.import_irs(bmf(&rows)).await.unwrap().touched(), 0);
        let moved: Vec<_> = rows.iter().map(|row| row.clone().with("CITY", "KEENE")).collect();
        assert_eq!(world.import_irs(bmf(&moved)).await.unwrap().changed, 20);
        let answer = world.client.details(200, "harbor-house").await;
        assert_eq!(answer.nonprofit()["name"], "Harbor House");
        assert_eq!(answer.nonprofit()["locationAddress"], "Keene, NH");
        assert_eq!(answer.nonprofit()["primarySlug"], "harbor-house");
    }

    async fn a_body_of_the_demo_directory_that_the_irs_names_keeps_its_profile_and_slug(world: &World) {
        world.load_demo().await;
        let before = world.client.details(200, "530196605").await;
        let filed = body("530196605", "AMERICAN NATIONAL RED CROSS").with("CITY", "WASHINGTON").with("STATE", "DC");
        let summary = world.import_irs(bmf(&[filed])).await.unwrap();
        assert_eq!((summary.new, summary.changed, summary.gone), (0, 1, 0));
        let after = world.client.details(200, "american-red-cross").await;
        for field in ["id", "name", "primarySlug", "description", "websiteUrl"] {
            assert_eq!(after.nonprofit()[field], before.nonprofit()[field], "{field}");
        }
    }

    async fn what_the_irs_says_is_not_overwritten(world: &World) {
        world.import_irs(bmf(&[body("020240383", "GRANITE TOWN LIBRARY")])).await.unwrap();
        let line = r#"{"ein":"020240383","city":"Paris","state":"TX","nteeCode":"C30","revenue":99,"description":"x"}"#;
        world.import_nonprofits(line).await.unwrap();
        let answer = world.client.details(200, "020240383").await;
        assert_eq!(answer.nonprofit()["locationAddress"], "Concord, NH");
        assert_eq!(answer.nonprofit()["nteeCode"], "B70");
    }

    async fn a_new_body_is_added_with_what_is_said_of_it(world: &World) {
        let line = r#"{"ein":"020240383","name":"Granite Library","city":"Concord","state":"nh","zip":"03301","nteeCode":"b70","subsection":3,"deductible":true}"#;
        assert_eq!(counts(&world.import_nonprofits(line).await.unwrap()), [1, 0, 0, 0]);
        let answer = world.client.details(200, "granite-library").await;
        assert_eq!(answer.nonprofit()["ein"], "020240383");
        assert_eq!(answer.nonprofit()["nteeCode"], "B70");
        assert_eq!(answer.nonprofit()["locationAddress"], "Concord, NH");
        assert_eq!(answer.nonprofit()["isDisbursable"], true);
    }

    async fn a_line_that_cannot_be_taken_is_refused_with_its_number_and_reason(world: &World) {
        world.load_demo().await;
        let before = world.dump().await;
        for (line, reason) in [
            (r#"{"ein":"530196605","causes":["nonsense"]}"#, "there is no cause \"nonsense\""),
            (r#"{"ein":"000000042","description":"x"}"#, "send its name to add it"),
            (r#"{"name":"Nobody"}"#, "ein or id must be there"),
            (r#"{"ein":"530196605","id":"0b6b9e0e-6b0f-4e5e-9a52-0d6f5d2d8f10","description":"x"}"#, "two different nonprofits"),
            (r#"{"ein":"530196605","websiteUrl":"javascript:alert(1)"}"#, "websiteUrl must be a web address"),
            (r#"{"ein":"530196605","name":null}"#, "name cannot be empty"),
            (r#"{"ein":"530196605","logo":"data:image/png;base64,AAAA"}"#, "logo: this is not a PNG, JPEG or WebP picture"),
            (r#"{"ein":"530196605",}"#, "not JSON"),
            ("42", "not a JSON object"),
        ] {
            let fault = world.import_nonprofits(&format!("{line}\n")).await.unwrap_err().to_string();
            assert!(fault.contains("line 1") && fault.contains(reason), "{line}: {fault}");
            assert_eq!(world.dump().await, before, "{line}");
            world.app.clock.advance(std::time::Duration::from_secs(1));
        }
        assert_eq!(world.reports().len(), 9);
    }

    async fn one_bad_line_in_two_hundred_is_passed_over_and_reported(world: &World) {
        let good = (1..200).map(|number| format!("{{\"ein\":\"{:09}\",\"name\":\"Body {number}\"}}\n", 20_000_000 + number));
        let lines: String = good.chain(["{\"ein\":\"530196605\"}\n".to_owned()]).collect();
        let summary = world.import_nonprofits(&lines).await.unwrap();
        assert_eq!(counts(&summary), [199, 0, 0, 1]);
        let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
        assert!(report.contains("line 200: no such nonprofit is known"), "{report}");
        // Both databases go on after the line that was refused.
        world.client.details(200, "body-199").await;
    }

    async fn importing_lines_again_changes_nothing(world: &World) {
        world.load_demo().await;
        let once = world.dump().await;
        let summary = world.app.importer().import_demo().await.unwrap();
        assert_eq!(summary.touched(), 0);
        assert_eq!(world.dump().await, once);
    }

    async fn a_file_cut_off_or_of_another_kind_is_refused(world: &World) {
        for (content, reason) in [
            (r#"{"ein":"530196605","name":"Am"#, "is cut off in line 1"),
            ("[{\"ein\":\"530196605\"}]", "is one JSON array"),
            ("", "is empty"),
        ] {
            let fault = world.import_nonprofits(content).await.unwrap_err().to_string();
            assert!(fault.contains(reason), "{fault}");
        }
        assert_eq!(world.imports().await, 0);
    }
}
