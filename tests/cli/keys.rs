//! `causeway account`, `causeway key`, `causeway limit`

use super::Cli;

fn cli_with_account() -> Cli {
    let cli = Cli::new();
    cli.run(0, &["account", "create", "ada", "--email", "ada@example.org"]);
    cli
}

#[test]
fn an_account_is_created_once() {
    let cli = Cli::new();
    let account = cli.json(&["account", "create", "Ada"]);
    assert_eq!(account["username"], "ada");
    let error = cli.fail(&["account", "create", "ada"]);
    assert_eq!(
        error,
        "causeway: there is already an account ada\n  choose another username\n"
    );
}

#[test]
fn a_new_key_is_printed_with_only_its_id_and_kind() {
    let cli = cli_with_account();
    for (kind, prefix) in [("public", "cwpk_"), ("private", "cwsk_")] {
        let created = cli.json(&[
            "key",
            "create",
            "--account",
            "ada",
            "--kind",
            kind,
            "--name",
            "site",
        ]);
        let mut names: Vec<_> = created.as_object().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, ["id", "key", "kind"]);
        assert_eq!(created["kind"], kind);
        assert!(created["key"].as_str().unwrap().starts_with(prefix));
        created["id"].as_str().unwrap().parse::<uuid::Uuid>().unwrap();
    }
}

#[test]
fn a_private_key_is_shown_once() {
    let cli = cli_with_account();
    let created = cli.json(&["key", "create", "--account", "ada", "--kind", "private"]);
    let key = created["key"].as_str().unwrap();
    let listed = cli.json(&["key", "list"]);
    assert_eq!(listed["keys"][0]["id"], created["id"]);
    assert!(listed["keys"][0]["key"].is_null());
    assert!(!listed.to_string().contains(key));
    assert!(!cli.run(0, &["key", "list"]).stdout.contains(key));
}

#[test]
fn a_key_is_blocked_unblocked_limited_and_revoked() {
    let cli = cli_with_account();
    let created = cli.json(&["key", "create", "--account", "ada", "--kind", "public"]);
    let id = created["id"].as_str().unwrap();
    let state = || cli.json(&["key", "list", "--account", "ada"])["keys"][0]["state"].clone();
    assert_eq!(state(), "active");
    cli.run(0, &["key", "block", id, "--reason", "copied everything"]);
    assert_eq!(state(), "blocked");
    assert_eq!(
        cli.json(&["key", "list"])["keys"][0]["blockReason"],
        "copied everything"
    );
    cli.run(0, &["key", "unblock", id]);
    assert_eq!(state(), "active");
    cli.run(0, &["limit", "set", id, "search=5000", "details=7"]);
    let limits = cli.json(&["limit", "list"]);
    assert_eq!(
        (&limits["defaults"]["search"], &limits["defaults"]["create"]),
        (&500.into(), &30.into())
    );
    assert_eq!(
        limits["keys"][0],
        serde_json::json!({"id": id, "class": "details", "perMinute": 7})
    );
    assert!(
        cli.run(0, &["limit", "list"])
            .stdout
            .contains(&format!("{id}  search=5000"))
    );
    cli.run(0, &["key", "revoke", id]);
    assert_eq!(state(), "revoked");
}

#[test]
fn a_limit_per_address_is_set_and_removed_for_public_keys() {
    let cli = cli_with_account();
    let create = |kind: &str| {
        let created = cli.json(&["key", "create", "--account", "ada", "--kind", kind]);
        created["id"].as_str().unwrap().to_owned()
    };
    let (public, private) = (create("public"), create("private"));
    for removal in ["address=none", "address=0"] {
        cli.run(0, &["limit", "set", &public, "address=60", "search=5000"]);
        let limits = cli.json(&["limit", "list"]);
        assert_eq!(
            limits["keys"],
            serde_json::json!([
                {"id": public, "class": "search", "perMinute": 5000},
                {"id": public, "class": "address", "perMinute": 60},
            ])
        );
        cli.run(0, &["limit", "set", &public, removal]);
        assert_eq!(cli.json(&["limit", "list"])["keys"].as_array().unwrap().len(), 1);
    }
    let error = cli.fail(&["limit", "set", &private, "address=60"]);
    assert!(error.contains("only public keys"), "{error}");
    cli.run(2, &["limit", "set", &public, "address=many"]);
}

#[test]
fn a_missing_account_or_key_is_reported_with_what_to_do() {
    let cli = Cli::new();
    let error = cli.fail(&["key", "create", "--account", "bob", "--kind", "public"]);
    assert!(
        error.contains("there is no account bob") && error.contains("causeway account create bob"),
        "{error}"
    );
    for command in [&["key", "revoke"][..], &["key", "block"], &["key", "unblock"]] {
        let id = "019a8f00-0000-7000-8000-000000000000";
        let error = cli.fail(&[command, &[id]].concat());
        assert!(error.contains(&format!("there is no key {id}")), "{error}");
    }
    cli.fail(&["limit", "set", "019a8f00-0000-7000-8000-000000000000", "search=1"]);
    assert!(
        cli.fail(&["account", "create", "not a name"])
            .contains("is not a username")
    );
    assert!(
        cli.fail(&["account", "create", "eve", "--email", "eve"])
            .contains("is not an email address")
    );
}

#[test]
fn a_key_is_rotated_to_a_new_one_of_the_same_kind() {
    let cli = cli_with_account();
    let old = cli.json(&[
        "key",
        "create",
        "--account",
        "ada",
        "--kind",
        "private",
        "--name",
        "robot",
    ]);
    let id = old["id"].as_str().unwrap();
    let new = cli.json(&["key", "rotate", id, "--overlap", "7d"]);
    assert_eq!(new["kind"], "private");
    assert_ne!(new["key"], old["key"]);
    let keys = cli.json(&["key", "list"])["keys"].clone();
    assert_eq!(
        (&keys[0]["id"], &keys[0]["state"]),
        (&old["id"], &"active".into())
    );
    assert!(keys[0]["endsAt"].is_string() && keys[1]["endsAt"].is_null());
    assert_eq!((&keys[1]["id"], &keys[1]["name"]), (&new["id"], &"robot".into()));
    let again = new["id"].as_str().unwrap();
    cli.run(0, &["key", "roll", again, "--overlap", "0"]);
    assert_eq!(cli.json(&["key", "list"])["keys"][1]["state"], "revoked");
    let error = cli.fail(&["key", "rotate", again]);
    assert!(error.contains("is revoked"), "{error}");
    cli.run(2, &["key", "rotate", id, "--overlap", "2h"]);
    cli.fail(&["key", "rotate", "019a8f00-0000-7000-8000-000000000000"]);
}

#[test]
fn accounts_are_listed_and_made_operators() {
    let cli = cli_with_account();
    cli.run(0, &["account", "create", "bob"]);
    cli.run(0, &["account", "operator", "bob", "on"]);
    let listed = cli.json(&["account", "list"])["accounts"].clone();
    assert_eq!(
        (&listed[0]["username"], &listed[0]["operator"]),
        (&"ada".into(), &false.into())
    );
    assert_eq!(listed[0]["email"], "ada@example.org");
    assert_eq!(
        (&listed[1]["username"], &listed[1]["operator"]),
        (&"bob".into(), &true.into())
    );
    cli.run(0, &["account", "operator", "bob", "off"]);
    assert_eq!(cli.json(&["account", "list"])["accounts"][1]["operator"], false);
    assert!(
        cli.fail(&["account", "operator", "eve", "on"])
            .contains("there is no account eve")
    );
    cli.run(2, &["account", "operator", "bob", "perhaps"]);
}

#[test]
fn a_block_reason_is_one_line_of_text() {
    let cli = cli_with_account();
    let created = cli.json(&["key", "create", "--account", "ada", "--kind", "public"]);
    let id = created["id"].as_str().unwrap();
    for reason in ["two\nlines", &"x".repeat(501)] {
        assert!(
            cli.fail(&["key", "block", id, "--reason", reason])
                .contains("the reason has")
        );
    }
    assert_eq!(cli.json(&["key", "list"])["keys"][0]["state"], "active");
}

#[test]
fn partner_origins_are_added_listed_and_removed() {
    let cli = cli_with_account();
    let origins =
        |more: &[&str]| cli.json(&[&["account", "origins", "ada"], more].concat())["origins"].clone();
    assert_eq!(origins(&[]), serde_json::json!([]));
    for _ in 0..2 {
        let added = origins(&["--add", "https://Shop.example.org/"]);
        assert_eq!(added, serde_json::json!(["https://shop.example.org"]));
    }
    let error = cli.fail(&["account", "origins", "ada", "--add", "http://shop.example.org"]);
    assert!(
        error.contains("is not an origin") && error.contains("enter https://"),
        "{error}"
    );
    cli.fail(&["account", "origins", "eve"]);
    assert_eq!(
        origins(&["--remove", "https://shop.example.org"]),
        serde_json::json!([])
    );
    cli.fail(&[
        "account",
        "origins",
        "ada",
        "--remove",
        "https://shop.example.org",
    ]);
}
