//! The commands with which operators moderate.

use super::Cli;
use super::server::{run, run_with_input};
use crate::api::fundraisers::{Organizer, donate};
use crate::dashboard::visitor::{PASSWORD, Visitor, emails, hidden};
use crate::world::World;
use access::audit::Actor;
use giving::fundraisers::write::UpdateFundraiser;
use serde_json::json;

on_both_databases!(
    an_account_is_suspended_and_restored_by_commands,
    a_suspension_refuses_what_follows_in_the_same_transaction,
    an_operator_sets_a_password,
    a_display_name_and_a_picture_are_removed_by_commands,
    a_fundraiser_is_hidden_and_shown_by_commands,
    donations_are_listed_and_shown,
    reports_are_listed_and_closed,
);

const NOBODY: &str = "00000000-0000-0000-0000-000000000000";
const RUN: &str = "american-red-cross/f/spring-run";

async fn an_account_is_suspended_and_restored_by_commands(world: &World) {
    let organizer = Organizer::new(world).await;
    let fundraiser = organizer.create_fundraiser(json!({})).await;
    let suspended = run(world, &["account", "suspend", "ada", "--reason", "Fake causes"]);
    assert_eq!(
        suspended,
        json!({"username": "ada", "suspended": true, "closedFundraisers": 1})
    );
    assert_eq!(run(world, &["account", "list"])["accounts"][0]["suspended"], true);
    for key in run(world, &["key", "list", "--account", "ada"])["keys"]
        .as_array()
        .unwrap()
    {
        assert_eq!(key["state"], "blocked");
    }
    world.app.access.keys.refresh().await.unwrap();
    assert_eq!(
        organizer.client.details(403, "530196605").await.code(),
        "blocked_key"
    );
    // A request that was authenticated before the suspension is refused when it writes.
    let late = world.app.giving.recorder.change(
        world.account,
        platform::ids::FundraiserId(fundraiser["id"].as_str().unwrap().parse().unwrap()),
        UpdateFundraiser::Reopen,
    );
    assert!(matches!(late.await, Err(giving::Error::Suspended)));
    run(world, &["account", "restore", "ada"]);
    world.app.access.keys.refresh().await.unwrap();
    organizer.client.details(200, "530196605").await;
    let path = "american-red-cross/fundraiser/spring-run";
    assert_eq!(
        organizer.read(200, path).await.json["data"]["fundraiser"]["status"],
        "CLOSED"
    );
    let audit = world
        .texts(
            "select act || ' ' || subject || ' ' || detail from audit where act like 'account %' order by id",
        )
        .await;
    assert_eq!(audit, ["account suspend ada Fake causes", "account restore ada "]);
}

async fn a_suspension_refuses_what_follows_in_the_same_transaction(world: &World) {
    let organizer = Organizer::new(world).await;
    let fundraiser = organizer.create_fundraiser(json!({})).await;
    let id = platform::ids::FundraiserId(fundraiser["id"].as_str().unwrap().parse().unwrap());
    let recorder = &world.app.giving.recorder;
    let change = |command| recorder.change(world.account, id, command);
    let account = access::accounts::store::find_by_id(&world.app.db, world.account).await;
    let account = account.unwrap().unwrap();
    // The writer takes them in this order.
    let (before, suspended, after) = tokio::join!(
        change(UpdateFundraiser::Close),
        world
            .app
            .moderation()
            .suspend(&account, "Fake causes", Actor::Command),
        change(UpdateFundraiser::Reopen),
    );
    before.unwrap();
    assert_eq!(suspended.unwrap(), 0, "the fundraiser had been closed before");
    assert!(matches!(after, Err(giving::Error::Suspended)));
}

async fn a_display_name_and_a_picture_are_removed_by_commands(world: &World) {
    world
        .execute(
            "update accounts set display_name = 'A rude word', picture = 'picture-x' where username = 'ada'",
        )
        .await;
    let profile = "select coalesce(display_name, '-') || ' ' || coalesce(picture, '-') from accounts where username = 'ada'";
    run(world, &["account", "remove-name", "ada"]);
    assert_eq!(world.texts(profile).await, ["- picture-x"]);
    run(world, &["account", "remove-picture", "ada"]);
    assert_eq!(world.texts(profile).await, ["- -"]);
    let audit =
        world.texts("select act || ' ' || subject from audit where act like 'account remove%' order by id");
    assert_eq!(
        audit.await,
        ["account remove-name ada", "account remove-picture ada"]
    );
}

async fn an_operator_sets_a_password(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    visitor.get(200, "/dashboard").await;
    run_with_input(
        world,
        &["account", "set-password", "grace"],
        "lantern river stone",
    );
    visitor.get(303, "/dashboard").await;
    visitor.sign_in(422, "grace", PASSWORD).await;
    visitor.sign_in(303, "grace", "lantern river stone").await;
    assert_eq!(
        world
            .texts("select act || ' ' || subject || detail from audit")
            .await,
        ["account set-password grace"]
    );
}

async fn a_fundraiser_is_hidden_and_shown_by_commands(world: &World) {
    let organizer = Organizer::new(world).await;
    world
        .execute("update accounts set email = 'ada@example.org' where username = 'ada'")
        .await;
    let fundraiser = organizer.create_fundraiser(json!({})).await;
    let id = fundraiser["id"].as_str().unwrap();
    let page = format!("/{RUN}");
    world.client.get_plain(200, &page).await;
    let hidden = run(world, &["fundraiser", "hide", id, "--reason", "Not true"]);
    assert_eq!(
        hidden,
        json!({"id": id, "status": "HIDDEN", "reason": "Not true"})
    );
    world.app.giving.fundraisers.refresh().await.unwrap();
    world.client.get_plain(404, &page).await;
    assert_eq!(
        run(world, &["fundraiser", "list", "--hidden"])["fundraisers"][0]["account"],
        "ada"
    );
    assert_eq!(
        run(world, &["fundraiser", "list", "--in-review"])["fundraisers"],
        json!([])
    );
    assert_eq!(run(world, &["fundraiser", "show", RUN])["status"], "PUBLISHED");
    world.app.giving.fundraisers.refresh().await.unwrap();
    world.client.get_plain(200, &page).await;
    // Without a reason, its creator sees a general one; by the URL of its page.
    let url = fundraiser["url"].as_str().unwrap();
    assert_eq!(
        run(world, &["fundraiser", "hide", url])["reason"],
        "It does not follow the rules of this site."
    );
    let sent = emails(world, 3).await;
    assert!(sent[0].contains("Reason: Not true"), "{}", sent[0]);
}

async fn donations_are_listed_and_shown(world: &World) {
    let organizer = Organizer::new(world).await;
    let fundraiser = organizer.create_fundraiser(json!({})).await;
    donate(world, &fundraiser, "p-1", "d-1", 2_500).await.unwrap();
    donate(world, &fundraiser, "p-2", "d-2", 700).await.unwrap();
    run(
        world,
        &[
            "donation",
            "refund",
            "--source",
            "test",
            "--external-id",
            "p-1",
            "--amount",
            "500",
        ],
    );
    let named = [
        "donation",
        "record",
        "--nonprofit",
        "530196605",
        "--amount",
        "100",
        "--donor",
        "d-3",
        "--external-id",
        "p-3",
        "--name",
        "Kim",
    ];
    run(world, &named);
    let all = run(world, &["donation", "list"]);
    assert_eq!(all["total"], 3);
    assert_eq!(all["donations"][0]["name"], "Kim");
    assert_eq!(all["donations"][2]["refunded"], 500);
    assert_eq!(all["donations"][2]["state"], "partly refunded");
    let page = run(world, &["donation", "list", "--take", "1", "--page", "2"]);
    assert_eq!(page["donations"][0]["externalId"], "p-2");
    let id = fundraiser["id"].as_str().unwrap();
    for (filter, total) in [
        (["--nonprofit", "american-red-cross"], 3),
        (["--nonprofit", "135562308"], 0),
        (["--fundraiser", id], 2),
        (["--fundraiser", NOBODY], 0),
        (["--source", "operator"], 1),
        (["--until", "2020-01-01"], 0),
        (["--from", "2020-01-01"], 3),
    ] {
        let list = run(world, &["donation", "list", filter[0], filter[1]]);
        assert_eq!(list["total"], total, "{filter:?}");
    }
    let shown = run(world, &["donation", "show", "1"]);
    assert_eq!(
        (&shown["externalId"], &shown["amount"]),
        (&json!("p-1"), &json!(2_500))
    );
}

async fn reports_are_listed_and_closed(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let form = "/american-red-cross/report";
    let once = hidden(&visitor.get(200, form).await.text(), "once");
    let fields = [
        ("reason", "fraud"),
        ("details", "Hello"),
        ("email", "eve@example.org"),
        ("once", &once),
    ];
    visitor.post(200, form, &fields).await;
    let report = run(world, &["report", "list"])["reports"][0].clone();
    assert_eq!(report["id"], once.as_str());
    assert_eq!(report["subject"]["kind"], "nonprofit");
    assert_eq!(
        (&report["reason"], &report["details"], &report["email"]),
        (&json!("fraud"), &json!("Hello"), &json!("eve@example.org"))
    );
    run(world, &["report", "close", &once]);
    assert_eq!(run(world, &["report", "list"])["reports"], json!([]));
    assert_eq!(
        run(world, &["report", "list", "--closed"])["reports"][0]["id"],
        once.as_str()
    );
}

#[test]
fn what_does_not_exist_is_not_found() {
    let cli = Cli::new();
    cli.run(0, &["account", "create", "ada"]);
    assert!(cli.fail(&["account", "restore", "ada"]).contains("not suspended"));
    for command in ["remove-name", "remove-picture"] {
        assert!(
            cli.fail(&["account", command, "ada"])
                .contains("nothing to remove")
        );
    }
    for command in [
        "suspend",
        "restore",
        "set-password",
        "remove-name",
        "remove-picture",
    ] {
        assert!(
            cli.fail(&["account", command, "nobody"])
                .contains("no account nobody")
        );
    }
    assert!(
        cli.fail(&["account", "set-password", "ada"])
            .contains("not allowed")
    );
    for command in ["hide", "show"] {
        for name in [NOBODY, "x", "nobody/f/run"] {
            assert!(cli.fail(&["fundraiser", command, name]).contains("no fundraiser"));
        }
    }
    for missing in ["3", "x", NOBODY] {
        assert!(cli.fail(&["donation", "show", missing]).contains("no donation"));
    }
    cli.run(2, &["donation", "list", "--from", "yesterday"]);
    assert!(
        cli.fail(&["fundraiser", "remove-comment", "1"])
            .contains("no public name")
    );
    assert!(cli.fail(&["report", "close", NOBODY]).contains("no open report"));
    assert!(cli.run(0, &["report", "list"]).stdout.contains("no reports"));
}
