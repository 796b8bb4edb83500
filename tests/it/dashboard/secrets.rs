//! Passwords and private keys are nowhere, once they were used.

use super::visitor::{PASSWORD, Visitor, mails};
use crate::world::World;
use std::path::Path;

const TABLES: [&str; 4] = [
    "select username || coalesce(email, '') || coalesce(password, '') from accounts",
    "select name || coalesce(public_key, '') || coalesce(block_reason, '') from keys",
    "select agent from sessions",
    "select act || subject || detail from audit",
];

fn holds(folder: &Path, secret: &str) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, secret);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(secret.len()).any(|part| part == secret.as_bytes())
    })
}

on_both! {
    async fn no_secret_stands_in_the_store_the_data_folder_or_the_metrics(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let private = visitor.make_key("private", "server").await;
        let public = visitor.make_key("public", "website").await;
        world.client.with_key(&private).details(401, "530196605").await;
        world.client.with_key(&public).details(404, "530196605").await;
        visitor.sign_in(422, "grace", "another lantern stone").await;
        visitor.sign_in(303, "grace", PASSWORD).await;
        mails(world, 1).await;
        world.app.save_counts().await.unwrap();
        let session = visitor.cookies.borrow()["causeway_session"].clone();
        for secret in [private.as_str(), PASSWORD, "another lantern stone", &session] {
            assert!(!holds(world.data(), secret), "{secret} stands in the data folder");
            assert!(!world.app.metrics.render().contains(secret));
            for sql in TABLES {
                assert!(!world.texts(sql).await.concat().contains(secret), "{secret}: {sql}");
            }
            for page in ["/dashboard", "/dashboard/usage", "/dashboard/first-steps", "/dashboard/settings"] {
                assert!(!visitor.get(200, page).await.text().contains(secret), "{secret} stands on {page}");
            }
        }
        assert!(!world.app.metrics.render().contains(&public));
    }
}
