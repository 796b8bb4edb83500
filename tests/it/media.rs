//! `GET /media/{hosted id}`: pictures that really load.

use crate::files::{bmf, body};
use crate::world::World;
use serde_json::Value;

fn path(url: &Value) -> &str {
    url.as_str()
        .unwrap()
        .strip_prefix("http://causeway.test")
        .unwrap()
}

on_both! {
    async fn the_pictures_that_a_details_answer_names_load(world: &World) {
        world.load_demo().await;
        let details = world.client.details(200, "530196605").await;
        let tags = details.json["data"]["nonprofitTags"].as_array().unwrap();
        let urls = [&details.nonprofit()["logoUrl"], &details.nonprofit()["coverImageUrl"]];
        for url in urls.into_iter().chain(tags.iter().map(|tag| &tag["tagImageUrl"])) {
            let picture = world.client.get_plain(200, path(url)).await;
            assert_eq!(picture.header("content-type"), "image/svg+xml");
            assert_eq!(picture.header("x-content-type-options"), "nosniff");
            assert!(picture.text().starts_with("<svg"), "{url}");
            let known = [("if-none-match", picture.header("etag"))];
            world.client.get_with(304, path(url), &known).await;
        }
    }

    async fn a_name_with_marks_of_svg_cannot_get_out_of_its_picture(world: &World) {
        let line = r#"{"ein":"020240383","name":"\"><script>alert(1)</script>&amp;<!--"}"#;
        world.import_nonprofits(line).await.unwrap();
        let details = world.client.details(200, "020240383").await;
        for name in ["logoUrl", "coverImageUrl"] {
            let picture = world.client.get_plain(200, path(&details.nonprofit()[name])).await.text();
            assert!(!picture.contains("<script") && !picture.contains("<!--"), "{picture}");
        }
    }

    async fn a_renamed_body_gets_another_monogram(world: &World) {
        world.import_irs(bmf(&[body("020240383", "GRANITE TOWN LIBRARY")])).await.unwrap();
        let details = world.client.details(200, "020240383").await;
        let logo = path(&details.nonprofit()["logoUrl"]).to_owned();
        let before = world.client.get_plain(200, &logo).await;
        world.import_irs(bmf(&[body("020240383", "PINE RIVER FRIENDS")])).await.unwrap();
        let after = world.client.get_plain(200, &logo).await;
        assert_ne!(after.header("etag"), before.header("etag"));
        assert_ne!(after.body, before.body);
    }

    async fn a_picture_of_nobody_is_not_found(world: &World) {
        for path in ["/media/logo-00000000-0000-0000-0000-000000000000", "/media/cause-nothing", "/media/x", "/media/"] {
            assert_eq!(world.client.get_plain(404, path).await.code(), "not_found", "{path}");
        }
    }
}
