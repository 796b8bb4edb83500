//! A running server on a port of its own, with the demo directory.

use causeway::accounts::store::{self, NewAccount};
use causeway::accounts::{Username, password::NewPassword};
use causeway::app::App;
use causeway::config::Config;
use causeway::http::router::router;
use causeway::import::nonprofits::import_demo;
use causeway::serve::{listen, serve};
use std::future::pending;
use tempfile::TempDir;

pub const PASSWORD: &str = "river stone lantern";

pub struct Site {
    pub app: App,
    pub url: String,
    folder: TempDir,
}

impl Site {
    pub async fn start() -> Site {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::for_tests(folder.path());
        let listener = listen(config.listen, false).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        config.public_url.clone_from(&url);
        let app = App::build(config).await.unwrap();
        import_demo(&app).await.unwrap();
        app.refresh_directory().await.unwrap();
        tokio::spawn(app.clone().keep_fresh());
        let (routes, served) = (router(app.clone()), app.clone());
        tokio::spawn(async move { serve(listener, routes, &served.config.serve, pending()).await });
        Site { app, url, folder }
    }

    /// Makes an operator, as the command does.
    pub async fn make_operator(&self, name: &str) {
        let username = Username::parse(name).unwrap();
        let password = NewPassword::parse(PASSWORD, name).unwrap();
        let hash = self.app.hashing.hash(password).await;
        let account = NewAccount {
            username: &username,
            email: None,
            operator: true,
            password: Some(&hash),
            is_confirmed: true,
        };
        let made = store::insert_whole(&self.app.db, &account, self.app.clock.millis()).await;
        assert!(made.unwrap().is_some());
    }

    /// The mails that were sent, once there is one.
    pub async fn mail(&self) -> String {
        let folder = self.folder.path().join("mail");
        for _ in 0..100 {
            let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let mut mails = files.map(|file| file.path());
            let mail = mails.find(|path| path.extension().is_some_and(|ending| ending == "eml"));
            if let Some(mail) = mail {
                return std::fs::read_to_string(mail).unwrap();
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("no mail came");
    }
}
