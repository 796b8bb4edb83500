//! `causeway account`, `causeway key`, `causeway limit`

use super::Shell;

fn shell_with_account() -> Shell {
    let shell = Shell::new();
    shell.run(0, &["account", "create", "ada", "--email", "ada@example.org"]);
    shell
}

#[test]
fn an_account_is_made_once() {
    let shell = Shell::new();
    let account = shell.json(&["account", "create", "Ada"]);
    assert_eq!(account["username"], "ada");
    let fault = shell.fail(&["account", "create", "ada"]);
    assert_eq!(
        fault,
        "causeway: there is an account ada already\n  pick another name\n"
    );
}

#[test]
fn a_new_key_is_printed_as_id_kind_and_key_alone() {
    let shell = shell_with_account();
    for (kind, prefix) in [("public", "cwpk_"), ("private", "cwsk_")] {
        let made = shell.json(&[
            "key",
            "create",
            "--account",
            "ada",
            "--kind",
            kind,
            "--name",
            "site",
        ]);
        let mut names: Vec<_> = made.as_object().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, ["id", "key", "kind"]);
        assert_eq!(made["kind"], kind);
        assert!(made["key"].as_str().unwrap().starts_with(prefix));
        made["id"].as_str().unwrap().parse::<uuid::Uuid>().unwrap();
    }
}

#[test]
fn a_private_key_is_shown_once() {
    let shell = shell_with_account();
    let made = shell.json(&["key", "create", "--account", "ada", "--kind", "private"]);
    let key = made["key"].as_str().unwrap();
    let listed = shell.json(&["key", "list"]);
    assert_eq!(listed["keys"][0]["id"], made["id"]);
    assert!(listed["keys"][0]["key"].is_null());
    assert!(!listed.to_string().contains(key));
    assert!(!shell.run(0, &["key", "list"]).out.contains(key));
}

#[test]
fn a_key_is_blocked_unblocked_limited_and_revoked() {
    let shell = shell_with_account();
    let made = shell.json(&["key", "create", "--account", "ada", "--kind", "public"]);
    let id = made["id"].as_str().unwrap();
    let state = || shell.json(&["key", "list", "--account", "ada"])["keys"][0]["state"].clone();
    assert_eq!(state(), "active");
    shell.run(0, &["key", "block", id, "--reason", "copied everything"]);
    assert_eq!(state(), "blocked");
    assert_eq!(
        shell.json(&["key", "list"])["keys"][0]["blockReason"],
        "copied everything"
    );
    shell.run(0, &["key", "unblock", id]);
    assert_eq!(state(), "active");
    shell.run(0, &["limit", "set", id, "search=5000", "details=7"]);
    let limits = shell.json(&["limit", "list"]);
    assert_eq!(
        (&limits["defaults"]["search"], &limits["defaults"]["create"]),
        (&500.into(), &30.into())
    );
    assert_eq!(
        limits["keys"][0],
        serde_json::json!({"id": id, "class": "details", "perMinute": 7})
    );
    assert!(
        shell
            .run(0, &["limit", "list"])
            .out
            .contains(&format!("{id}  search=5000"))
    );
    shell.run(0, &["key", "revoke", id]);
    assert_eq!(state(), "revoked");
}

#[test]
fn what_is_not_there_is_told_with_the_way_to_it() {
    let shell = Shell::new();
    let fault = shell.fail(&["key", "create", "--account", "bob", "--kind", "public"]);
    assert!(
        fault.contains("there is no account bob") && fault.contains("causeway account create bob"),
        "{fault}"
    );
    for command in [&["key", "revoke"][..], &["key", "block"], &["key", "unblock"]] {
        let id = "019a8f00-0000-7000-8000-000000000000";
        let fault = shell.fail(&[command, &[id]].concat());
        assert!(fault.contains(&format!("there is no key {id}")), "{fault}");
    }
    shell.fail(&["limit", "set", "019a8f00-0000-7000-8000-000000000000", "search=1"]);
    assert!(
        shell
            .fail(&["account", "create", "not a name"])
            .contains("a username has")
    );
    assert!(
        shell
            .fail(&["account", "create", "eve", "--email", "eve"])
            .contains("no e-mail address")
    );
}

#[test]
fn a_key_is_rolled_into_a_new_one_of_the_same_kind() {
    let shell = shell_with_account();
    let old = shell.json(&[
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
    let new = shell.json(&["key", "roll", id, "--overlap", "7d"]);
    assert_eq!(new["kind"], "private");
    assert_ne!(new["key"], old["key"]);
    let keys = shell.json(&["key", "list"])["keys"].clone();
    assert_eq!(
        (&keys[0]["id"], &keys[0]["state"]),
        (&old["id"], &"active".into())
    );
    assert!(keys[0]["endsAt"].is_string() && keys[1]["endsAt"].is_null());
    assert_eq!((&keys[1]["id"], &keys[1]["name"]), (&new["id"], &"robot".into()));
    let again = new["id"].as_str().unwrap();
    shell.run(0, &["key", "roll", again, "--overlap", "0"]);
    assert_eq!(shell.json(&["key", "list"])["keys"][1]["state"], "revoked");
    let fault = shell.fail(&["key", "roll", again]);
    assert!(fault.contains("is revoked"), "{fault}");
    shell.run(2, &["key", "roll", id, "--overlap", "2h"]);
    shell.fail(&["key", "roll", "019a8f00-0000-7000-8000-000000000000"]);
}

#[test]
fn accounts_are_listed_and_made_operators() {
    let shell = shell_with_account();
    shell.run(0, &["account", "create", "bob"]);
    shell.run(0, &["account", "operator", "bob", "on"]);
    let listed = shell.json(&["account", "list"])["accounts"].clone();
    assert_eq!(
        (&listed[0]["username"], &listed[0]["operator"]),
        (&"ada".into(), &false.into())
    );
    assert_eq!(listed[0]["email"], "ada@example.org");
    assert_eq!(
        (&listed[1]["username"], &listed[1]["operator"]),
        (&"bob".into(), &true.into())
    );
    shell.run(0, &["account", "operator", "bob", "off"]);
    assert_eq!(shell.json(&["account", "list"])["accounts"][1]["operator"], false);
    assert!(
        shell
            .fail(&["account", "operator", "eve", "on"])
            .contains("there is no account eve")
    );
    shell.run(2, &["account", "operator", "bob", "perhaps"]);
}

#[test]
fn a_reason_is_one_line_of_text() {
    let shell = shell_with_account();
    let made = shell.json(&["key", "create", "--account", "ada", "--kind", "public"]);
    let id = made["id"].as_str().unwrap();
    for reason in ["two\nlines", &"x".repeat(501)] {
        assert!(
            shell
                .fail(&["key", "block", id, "--reason", reason])
                .contains("the reason has")
        );
    }
    assert_eq!(shell.json(&["key", "list"])["keys"][0]["state"], "active");
}

#[test]
fn origins_of_a_partner_are_added_listed_and_removed() {
    let shell = shell_with_account();
    let origins =
        |more: &[&str]| shell.json(&[&["account", "origins", "ada"], more].concat())["origins"].clone();
    assert_eq!(origins(&[]), serde_json::json!([]));
    for _ in 0..2 {
        let added = origins(&["--add", "https://Shop.example.org/"]);
        assert_eq!(added, serde_json::json!(["https://shop.example.org"]));
    }
    let fault = shell.fail(&["account", "origins", "ada", "--add", "http://shop.example.org"]);
    assert!(
        fault.contains("is no origin") && fault.contains("write https://"),
        "{fault}"
    );
    shell.fail(&["account", "origins", "eve"]);
    assert_eq!(
        origins(&["--remove", "https://shop.example.org"]),
        serde_json::json!([])
    );
    shell.fail(&[
        "account",
        "origins",
        "ada",
        "--remove",
        "https://shop.example.org",
    ]);
}
