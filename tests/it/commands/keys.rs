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
    shell.run(0, &["key", "block", id]);
    assert_eq!(state(), "blocked");
    shell.run(0, &["key", "unblock", id]);
    assert_eq!(state(), "active");
    shell.run(0, &["limit", "set", id, "search=5000", "details=7"]);
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
