//! Operators pay nonprofits on their pages, and nonprofits read their statements.

use super::operator::operator;
use super::visitor::{Visitor, between};
use crate::api::fundraisers::{NYU, RED_CROSS};
use crate::world::World;
use giving::books::{EntryName, FeesPaidBy, Movement};
use giving::donations::{Label, NewDonation, RecipientName, find_recipient};
use giving::ledger::entry::Mode;
use platform::money::Cents;
use std::time::Duration;

on_both_databases!(
    two_operators_pay_a_nonprofit_and_it_reads_its_statement,
    a_payee_is_changed_without_its_account_being_shown,
    only_operators_see_disbursement,
);

const DISBURSE: &str = "/dashboard/operator/disburse";
const ACCOUNT: &str = "90817263549";

async fn give(world: &World, ein: &str, id: &str, cents: i64) {
    let label = |text: &str| Label::parse(text).unwrap();
    let name = RecipientName::parse(ein, None).unwrap();
    let donation = NewDonation {
        source: label("test"),
        external_id: label(id),
        mode: Mode::Test,
        to: find_recipient(&world.app.db, &world.app.directory, &name)
            .await
            .unwrap(),
        amount: Cents::new(cents),
        donor: label("ana"),
        name: None,
        is_public: false,
    };
    let recorder = &world.app.giving.recorder;
    recorder.record(donation).await.unwrap();
    let settlement = Movement::Settlement {
        transaction: label(&format!("txn_{id}")),
        settles: EntryName {
            source: label("test"),
            external_id: label(id),
        },
        amount: Cents::new(cents),
        fee: Cents::new(59),
        fees_paid_by: FeesPaidBy::Nonprofit,
    };
    recorder.enter(settlement).await.unwrap();
}

async fn another_operator(world: &World) -> Visitor {
    let visitor = Visitor::new(world);
    visitor.sign_up("oscar").await;
    world
        .execute("update accounts set operator = true where username = 'oscar'")
        .await;
    visitor
}

async fn save_payee(operator: &Visitor, ein: &str) {
    let fields = [
        ("nonprofit", ein),
        ("method", "check"),
        ("street", "1 Main St"),
        ("city", "Keene"),
        ("state", "NH"),
        ("zip", "03431"),
        ("email", "pay@example.org"),
    ];
    operator
        .post(303, "/dashboard/operator/payees/edit", &fields)
        .await;
}

async fn two_operators_pay_a_nonprofit_and_it_reads_its_statement(world: &World) {
    world.load_demo().await;
    let olga = operator(world).await;
    let page = olga.get(200, DISBURSE).await.text();
    assert!(
        page.contains("Nothing is owed") && page.contains("id=\"alone\""),
        "{page}"
    );
    let oscar = another_operator(world).await;
    give(world, RED_CROSS, "ch_1", 10_000).await;
    give(world, RED_CROSS, "ch_2", 2_500).await;
    give(world, NYU, "ch_3", 900).await;
    save_payee(&olga, RED_CROSS).await;
    save_payee(&olga, NYU).await;

    let page = olga.get(200, DISBURSE).await.text();
    assert!(page.contains("too recent"), "{page}");
    let page = olga.post(422, &format!("{DISBURSE}/prepare"), &[]).await.text();
    assert!(page.contains("Nothing can be paid now."), "{page}");
    world.app.clock.advance(Duration::from_hours(15 * 24));
    let page = olga.get(200, DISBURSE).await.text();
    assert!(
        page.contains("$123.82") && page.contains("less than the smallest payment"),
        "{page}"
    );

    let prepared = olga.post(303, &format!("{DISBURSE}/prepare"), &[]).await;
    assert!(prepared.header("location").ends_with("/disburse/1"));
    let page = olga.get(200, &format!("{DISBURSE}/1")).await.text();
    assert!(page.contains("Another operator has to approve it."), "{page}");
    let page = olga.post(422, &format!("{DISBURSE}/1/approve"), &[]).await.text();
    assert!(page.contains("prepared by the same operator"), "{page}");
    let home = oscar.get(200, "/dashboard/operator").await.text();
    assert!(home.contains("Batches that wait for approval: 1"), "{home}");
    oscar.post(303, &format!("{DISBURSE}/1/approve"), &[]).await;
    let page = oscar
        .post(422, &format!("{DISBURSE}/1/export"), &[("format", "nacha")])
        .await
        .text();
    assert!(page.contains("no line to export as nacha"), "{page}");
    let file = oscar
        .post(200, &format!("{DISBURSE}/1/export"), &[("format", "checks")])
        .await;
    assert!(file.header("content-disposition").contains("attachment"));
    let again = olga
        .post(200, &format!("{DISBURSE}/1/export"), &[("format", "checks")])
        .await;
    assert_eq!(again.text(), file.text());
    assert!(file.text().contains("123.82"), "{}", file.text());

    let page = olga
        .post(422, &format!("{DISBURSE}/1/1"), &[("action", "paid")])
        .await
        .text();
    assert!(page.contains("needs the reference of the bank"), "{page}");
    let paid = [("action", "paid"), ("reference", "1001")];
    olga.post(303, &format!("{DISBURSE}/1/1"), &paid).await;
    let page = olga.get(200, &format!("{DISBURSE}/1")).await.text();
    let link = between(&page, "<a href=\"http://causeway.test/disbursements/", "\"").unwrap();
    let link = format!(
        "/disbursements/{}",
        link.replace("&#38;", "&").replace("&amp;", "&")
    );
    verify_statement(world, &link).await;
}

async fn verify_statement(world: &World, link: &str) {
    let nonprofit = Visitor::new(world);
    let page = nonprofit.get(200, link).await.text();
    for expected in [
        "$125.00",
        "$1.18",
        "$123.82",
        "American National Red Cross",
        "Paid",
        "Test mode",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let csv = nonprofit.get(200, &format!("{link}&format=csv")).await.text();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.contains(",100.00,0.59,99.41,"), "{csv}");
    // Another token, another line, and none.
    nonprofit.get(404, &link.replace("/1/1?", "/1/2?")).await;
    nonprofit
        .get(404, &format!("{}00", &link[..link.len() - 2]))
        .await;
    nonprofit.get(404, "/disbursements/1/1").await;
}

async fn a_payee_is_changed_without_its_account_being_shown(world: &World) {
    world.load_demo().await;
    let olga = operator(world).await;
    let edit = "/dashboard/operator/payees/edit";
    let fields = |number: &'static str| {
        [
            ("nonprofit", RED_CROSS),
            ("method", "ach"),
            ("routing_number", "021000021"),
            ("account_number", number),
            ("account_type", "checking"),
        ]
    };
    let page = olga.post(422, edit, &fields("90817263549x")).await.text();
    assert!(
        page.contains("may only have digits") && !page.contains(ACCOUNT),
        "{page}"
    );
    olga.post(303, edit, &fields(ACCOUNT)).await;
    let page = olga
        .get(200, &format!("{edit}?nonprofit={RED_CROSS}"))
        .await
        .text();
    assert!(
        page.contains("account ending in 3549") && !page.contains(ACCOUNT),
        "{page}"
    );
    // Without numbers, the account stays; another name holds the payments.
    let kept = [
        ("nonprofit", RED_CROSS),
        ("method", "ach"),
        ("name", "Red Cross Treasury"),
    ];
    olga.post(303, edit, &kept).await;
    let page = olga.get(200, "/dashboard/operator/payees").await.text();
    assert!(
        page.contains("account ending in 3549") && page.contains("Held until"),
        "{page}"
    );
    let home = olga.get(200, "/dashboard/operator").await.text();
    assert!(
        home.contains("Payees that were changed and are held: 1"),
        "{home}"
    );
    let page = olga
        .post(422, edit, &[("nonprofit", "999999999"), ("method", "check")])
        .await
        .text();
    assert!(page.contains("There is no nonprofit 999999999"), "{page}");
}

async fn only_operators_see_disbursement(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    for page in ["", "/1", "/reassign"] {
        visitor.get(403, &format!("{DISBURSE}{page}")).await;
    }
    visitor.get(403, "/dashboard/operator/payees").await;
    visitor.post(403, &format!("{DISBURSE}/prepare"), &[]).await;
}
