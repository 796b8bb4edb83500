//! A month of 60 gifts to twelve nonprofits with refunds and a dispute. One nonprofit lost its standing and one has no payee.
//! Two operators pay in the browser, one payment comes back and is sent again, one amount is reassigned, and the statements,
//! the report and the books agree to the cent.

use crate::inspector::Inspector;
use crate::site::{PASSWORD, Site};
use access::audit::Actor;
use directory::nonprofits::ein::Ein;
use giving::books::export::{BooksFormat, export};
use giving::books::{EntryName, FeesPaidBy, Movement};
use giving::disbursement::batches::store::list_lines;
use giving::donations::{Dispute, Label, NewDonation, RecipientName, Refund, find_recipient};
use giving::ledger::entry::Mode;
use ingest::ListKind;
use platform::money::Cents;
use std::fmt::Write as _;
use std::time::Duration;

/// The demo directory has these nonprofits.
const NONPROFITS: [&str; 12] = [
    "135562308",
    "231352685",
    "133957095",
    "520595110",
    "941156365",
    "340714585",
    "042103580",
    "416011702",
    "135598093",
    "060646973",
    "150532082",
    "042103594",
];
/// Its exemption is revoked after it got gifts.
const REVOKED: usize = 10;
const WITHOUT_PAYEE: usize = 11;
const GIFTS: usize = 60;
const PATH: &str = "/dashboard/operator/disburse";
const ACCOUNT: &str = "90817263549";
const DAY: Duration = Duration::from_hours(24);

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

struct Month {
    site: Site,
    inspector: Inspector,
}

#[tokio::test(flavor = "multi_thread")]
async fn two_operators_pay_a_month_and_every_cent_is_explained() {
    let month = Month {
        site: Site::start_with_bank().await,
        inspector: Inspector::start().await,
    };
    month.give().await;
    month.revoke().await;
    let operators = ["olga", "oscar"];
    for operator in operators {
        month.site.create_operator(operator).await;
    }
    month.sign_in("olga").await;
    month.import_payees().await;
    month.site.app.clock.advance(15 * DAY);
    month.pay_first_batch().await;
    month.pay_again().await;
    month.verify().await;
    month.inspector.stop().await;
}

impl Month {
    /// Records the gifts, two refunds and a dispute, all settled.
    async fn give(&self) {
        let recorder = &self.site.app.giving.recorder;
        for number in 0..GIFTS {
            let name = RecipientName::parse(NONPROFITS[number % NONPROFITS.len()], None).unwrap();
            let app = &self.site.app;
            let to = find_recipient(&app.db, &app.directory, &name).await.unwrap();
            let (id, cents) = (format!("ch_{number}"), 1_500 + 137 * number as i64);
            let donation = NewDonation {
                source: label("test"),
                external_id: label(&id),
                mode: Mode::Test,
                to,
                amount: Cents::new(cents),
                donor: label("ana"),
                name: None,
                is_public: false,
            };
            recorder.record(donation).await.unwrap();
            self.settle(&id, cents, cents * 29 / 1_000 + 30).await;
        }
        for (gift, cents, id) in [(0, 1_500, "re_0"), (13, 1_000, "re_13")] {
            let refund = Refund {
                source: label("test"),
                external_id: label(&format!("ch_{gift}")),
                amount: Some(Cents::new(cents)),
                refund_id: Some(label(id)),
            };
            recorder.refund(refund).await.unwrap();
            self.settle(id, -cents, 0).await;
        }
        let dispute = Dispute {
            source: label("test"),
            external_id: label("ch_26"),
            amount: Cents::new(1_500 + 137 * 26),
            dispute_id: label("dp_26"),
        };
        recorder.dispute(dispute).await.unwrap();
        self.settle("dp_26", -(1_500 + 137 * 26), 1_500).await;
    }

    async fn settle(&self, entry: &str, cents: i64, fee: i64) {
        let movement = Movement::Settlement {
            transaction: label(&format!("txn_{entry}")),
            settles: EntryName {
                source: label("test"),
                external_id: label(entry),
            },
            amount: Cents::new(cents),
            fee: Cents::new(fee),
            fees_paid_by: FeesPaidBy::Nonprofit,
        };
        self.site.app.giving.recorder.enter(movement).await.unwrap();
    }

    /// Imports a list of revocations, as an operator does every month.
    async fn revoke(&self) {
        let ein = NONPROFITS[REVOKED];
        let row =
            format!("{ein}|CORNELL UNIVERSITY||1 MAIN ST|ITHACA|NY|14850|US|03|15-MAY-2025|10-AUG-2025|");
        let file = self.site.file("revocations.txt", &format!("\r\n\r\n{row}\r\n"));
        let app = &self.site.app;
        let list = ListKind::Revocations;
        app.importer().import_list(list, &file, true).await.unwrap();
        app.refresh_directory().await.unwrap();
    }

    async fn sign_in(&self, operator: &str) {
        let browser = &self.inspector.browser;
        browser.driver.delete_all_cookies().await.unwrap();
        browser.goto(&self.site, "/dashboard/sign-in").await;
        browser.fill("#username", operator).await;
        browser.fill("#password", PASSWORD).await;
        self.follow("form.form button").await;
        browser.find(".part-nav").await;
    }

    /// All payees but one come from a file, and one is entered on its page.
    async fn import_payees(&self) {
        let mut rows = String::from("ein,method,routing_number,account_number,street,city,state,zip\n");
        for (number, ein) in NONPROFITS.iter().enumerate() {
            match number {
                0 | WITHOUT_PAYEE => {}
                1..=4 => writeln!(rows, "{ein},check,,,{number} Main St,Keene,NH,03431").unwrap(),
                _ => writeln!(rows, "{ein},ach,021000021,{ACCOUNT}{number},,,,").unwrap(),
            }
        }
        let disbursements = self.site.app.disbursements();
        let saved = disbursements.import_payees(rows.as_bytes(), Actor::Command).await;
        saved.unwrap();
        let browser = &self.inspector.browser;
        browser.goto(&self.site, "/dashboard/operator/payees").await;
        self.inspector.inspect("operator-payees").await;
        browser
            .click("main a[href='/dashboard/operator/payees/edit']")
            .await;
        self.inspector.inspect("operator-payee").await;
        browser.fill("#nonprofit", NONPROFITS[0]).await;
        browser.fill("#routing_number", "021000021").await;
        browser.fill("#account_number", ACCOUNT).await;
        browser.wait_for_page(browser.press_on("form.form button")).await;
        let page = browser.text("main").await;
        assert!(
            page.contains("account ending in 3549") && !page.contains(ACCOUNT),
            "{page}"
        );
    }

    async fn pay_first_batch(&self) {
        let browser = &self.inspector.browser;
        browser.goto(&self.site, PATH).await;
        self.inspector.inspect("operator-disburse").await;
        self.follow("form[action$='/prepare'] button").await;
        assert_eq!(browser.path().await, format!("{PATH}/1"));
        self.inspector.inspect("operator-batch-draft").await;
        assert!(
            browser
                .text("main")
                .await
                .contains("Another operator has to approve it.")
        );
        self.approve_and_export(1, &["nacha", "checks"]).await;
        self.inspector.inspect("operator-batch").await;
        let lines = list_lines(&self.site.app.db, 1).await.unwrap();
        assert_eq!(lines.len(), 10);
        self.mark(1, 6, "returned", "R03").await;
        for line in lines.iter().filter(|line| line.number != 6) {
            self.mark(1, line.number, "paid", &format!("T{}", line.number))
                .await;
        }
        assert_eq!(browser.text("#batch-state").await, "Closed");
    }

    /// What came back goes to another account after the hold, with an amount that another nonprofit can no longer get.
    async fn pay_again(&self) {
        let browser = &self.inspector.browser;
        let returned = list_lines(&self.site.app.db, 1).await.unwrap()[5].nonprofit;
        browser
            .goto(
                &self.site,
                &format!("/dashboard/operator/payees/edit?nonprofit={returned}"),
            )
            .await;
        browser.fill("#routing_number", "021000021").await;
        browser.fill("#account_number", "77665544").await;
        self.follow("form.form button").await;
        assert!(browser.text("main").await.contains("account ending in 5544"));
        self.site.app.clock.advance(8 * DAY);
        browser.goto(&self.site, PATH).await;
        let page = browser.text("#standings").await;
        assert!(page.contains("Cornell University"), "{page}");
        self.follow("#standings a[href*='/reassign?from=']").await;
        self.inspector.inspect("operator-reassign").await;
        browser.fill("#to", NONPROFITS[0]).await;
        browser
            .fill("#reason", "It lost its exemption, and the donors agreed.")
            .await;
        self.follow("form.form button").await;
        self.follow("form[action$='/prepare'] button").await;
        assert_eq!(browser.path().await, format!("{PATH}/2"));
        self.approve_and_export(2, &["nacha"]).await;
        for line in list_lines(&self.site.app.db, 2).await.unwrap() {
            self.mark(2, line.number, "paid", &format!("U{}", line.number))
                .await;
        }
        assert_eq!(browser.text("#batch-state").await, "Closed");
    }

    /// The other operator approves, and the file is the same when it is downloaded again.
    async fn approve_and_export(&self, batch: i64, formats: &[&str]) {
        let browser = &self.inspector.browser;
        let other = if batch == 1 { "oscar" } else { "olga" };
        self.sign_in(other).await;
        let page = format!("{PATH}/{batch}");
        browser.goto(&self.site, &page).await;
        self.follow("form[action$='/approve'] button").await;
        for format in formats {
            let script = format!(
                "const body = new URLSearchParams({{ format: {format:?} }});
                const read = async () => (await fetch('{page}/export', {{ method: 'POST', body }})).text();
                const [first, second] = [await read(), await read()];
                return first.length > 100 && first === second;"
            );
            assert_eq!(browser.run(&script).await, true);
        }
        browser.goto(&self.site, &page).await;
        assert_eq!(browser.text("#batch-state").await, "Exported");
    }

    /// Clicks what opens another page.
    async fn follow(&self, css: &str) {
        let browser = &self.inspector.browser;
        browser.wait_for_page(browser.click(css)).await;
    }

    async fn mark(&self, batch: i64, line: i64, action: &str, reference: &str) {
        let browser = &self.inspector.browser;
        browser.fill(&format!("#reference-{line}"), reference).await;
        let form = format!("form[action='{PATH}/{batch}/{line}']");
        self.follow(&format!("{form} button[value={action}]")).await;
        assert!(browser.text(".alert-good").await.contains("Payment updated."));
    }

    async fn verify(&self) {
        let app = &self.site.app;
        let disbursements = app.disbursements();
        let mut paid = 0;
        for batch in [1, 2] {
            for line in list_lines(&app.db, batch).await.unwrap() {
                let statement = disbursements.find_statement(batch, line.number).await.unwrap();
                let statement = statement.unwrap();
                let sum: i64 = statement.items.iter().map(|item| item.net.get()).sum();
                assert_eq!(sum, line.amount.get());
                if (batch, line.number) != (1, 6) {
                    paid += sum;
                }
            }
        }
        let report = disbursements.report((0, i64::MAX)).await.unwrap();
        let totals = &report.totals;
        let given: i64 = (0..GIFTS as i64).map(|number| 1_500 + 137 * number).sum();
        assert_eq!(
            (totals.donations.get(), totals.donation_count),
            (given, GIFTS as i64)
        );
        assert_eq!(totals.refunds.get(), -2_500);
        assert_eq!(totals.disputes.get(), -(1_500 + 137 * 26));
        assert_eq!(-(totals.paid.get() + totals.returned.get()), paid);
        let owed = disbursements.list_owed(None).await.unwrap();
        // What is left belongs to the nonprofit without a payee.
        assert_eq!(
            owed.iter().map(|standing| standing.owed.get()).sum::<i64>(),
            totals.closing.get()
        );
        let left: Vec<_> = owed
            .iter()
            .filter(|standing| standing.owed != Cents::ZERO)
            .collect();
        let without_payee = Ein::parse(NONPROFITS[WITHOUT_PAYEE]).unwrap().nonprofit_id();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].candidate.nonprofit, without_payee);

        let mut books = Vec::new();
        export(
            &app.db,
            &app.directory,
            BooksFormat::Hledger,
            Mode::Test,
            &app.config.time_zone,
            &mut books,
        )
        .await
        .unwrap();
        let books = String::from_utf8(books).unwrap();
        let bank: i64 = books
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Assets:Bank"))
            .map(|amount| {
                amount
                    .replace(['.', ' ', ','], "")
                    .replace("USD", "")
                    .parse::<i64>()
                    .unwrap()
            })
            .sum();
        assert_eq!(-bank, paid);
        let checked = giving::check::check(&app.db).await.unwrap();
        assert!(checked.errors.is_empty(), "{:?}", checked.errors);

        let line = &list_lines(&app.db, 2).await.unwrap()[0];
        let link = disbursements.statement_url(line).replace(&self.site.url, "");
        let browser = &self.inspector.browser;
        browser.driver.delete_all_cookies().await.unwrap();
        browser.goto(&self.site, &link).await;
        assert_eq!(browser.text("#statement #total").await, line.amount.to_string());
        self.inspector.inspect("disbursement-statement").await;
    }
}
