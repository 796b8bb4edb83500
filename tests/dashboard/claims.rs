//! Claims of nonprofits: proofs, decisions, invitations, editing, and 50 claims that must not succeed.

use super::operator::operator;
use super::two_factor::enable;
use super::visitor::{Visitor, between, emails, hidden, link};
use crate::client::Client;
use crate::dns::serve_record;
use crate::site::media::picture_file;
use crate::wait::eventually;
use crate::world::World;
use access::claims::settings::{Approval, WithoutConsent};
use causeway::app::App;
use causeway::config::Config;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

on_both_databases!(
    a_claim_by_dns_leads_to_the_first_edit,
    what_a_nonprofit_says_outlives_imports_and_can_be_reverted,
    a_link_proves_an_address_once,
    no_hostile_claim_succeeds,
    of_two_claimants_at_the_same_time_one_is_approved,
    an_invitation_works_once,
    a_document_is_read_by_operators_and_deleted,
    a_decision_needs_a_current_proof_and_a_second_factor,
    a_nonprofit_stops_and_accepts_donations_at_once,
    consents_are_kept_with_their_wording,
    a_nonprofit_approves_and_declines_fundraisers,
    donations_and_pictures_are_for_those_who_run_the_page,
);

const CLAIM: &str = "/american-red-cross/claim";
const OPERATOR: &str = "/dashboard/operator/claims";
const INVITATION: &str = "Run the page of";
const DAY: Duration = Duration::from_hours(24);
const EIN: u32 = 530_196_605;

/// Files a website for a nonprofit.
async fn file_website(world: &World, ein: u32, url: &str) {
    world
        .execute_owned(format!("delete from return_profiles where ein = {ein}"))
        .await;
    world
        .execute_owned(format!(
            "insert into return_profiles (ein, website_url, website_period, is_final) values ({ein}, '{url}', 209901, false)"
        ))
        .await;
}

/// A server with these settings for claims, on the same database and clock.
async fn server(world: &World, approve: Approval, dns: Option<SocketAddr>) -> (App, Client) {
    let mut config: Config = world.app.config.clone();
    config.claims.approve = approve;
    // No name server answers there.
    config.origins.dns_server = Some(dns.unwrap_or(([127, 0, 0, 1], 9).into()));
    let app = App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap();
    let client = Client::new(&app, &world.client.key);
    (app, client)
}

/// A visitor with an account and a second factor.
async fn claimant(world: &World, client: &Client, username: &str) -> Visitor {
    let visitor = Visitor::with_client(client);
    visitor.sign_up(username).await;
    enable(world, &visitor, username).await;
    visitor
}

fn by_email(email: &str) -> [(&str, &str); 4] {
    [
        ("person", "Clara Barton"),
        ("position", "President"),
        ("proof", "email"),
        ("email", email),
    ]
}

fn by_domain() -> [(&'static str, &'static str); 3] {
    [
        ("person", "Clara Barton"),
        ("position", "President"),
        ("proof", "domain"),
    ]
}

/// The usernames of approved claims.
async fn approved(world: &World) -> Vec<String> {
    let sql = "select a.username from claims c join accounts a on a.id = c.account_id \
         where c.state = 'approved' order by 1";
    world.texts(sql).await
}

async fn states(world: &World) -> Vec<String> {
    world
        .texts("select state from claims order by created_at, id")
        .await
}

fn token(link: &str) -> String {
    link.split_once("token=").unwrap().1.to_owned()
}

/// The emails with a subject.
async fn with_subject(world: &World, subject: &str) -> Vec<String> {
    let mut all = emails(world, 0).await;
    all.retain(|email| email.contains(&format!("Subject: {subject}")));
    all
}

/// The token in the email with a subject that follows those before.
async fn next_token(world: &World, subject: &str, before: &[String]) -> String {
    let description = format!("\"{subject}\" is sent");
    let new = eventually(&description, async || {
        let all = with_subject(world, subject).await;
        all.into_iter().find(|email| !before.contains(email))
    });
    token(&link(&new.await))
}

/// Claims by an address and returns the token of the link.
async fn claim_by_email(world: &World, visitor: &Visitor, path: &str, email: &str) -> String {
    let subject = "Prove that you act";
    let before = with_subject(world, subject).await;
    visitor.post(303, path, &by_email(email)).await;
    next_token(world, subject, &before).await
}

async fn prove(visitor: &Visitor, expected: u16, token: &str) {
    visitor
        .post(expected, "/dashboard/nonprofits/prove", &[("token", token)])
        .await;
}

async fn id_of(world: &World, username: &str) -> String {
    let page = operator_page(world).await;
    let before = page
        .split(&format!("/accounts/{username}\""))
        .nth(1)
        .unwrap_or_else(|| panic!("{page}"));
    between(before, "/dashboard/operator/claims/", "/").unwrap()
}

async fn operator_page(world: &World) -> String {
    let visitor = Visitor::new(world);
    visitor.sign_in(303, "olga", super::visitor::PASSWORD).await;
    visitor.get(200, OPERATOR).await.text()
}

/// Lets an account administer the Red Cross, by an address and a decision.
async fn administrator(world: &World, client: &Client, username: &str) -> (Visitor, Visitor) {
    file_website(world, EIN, "https://www.redcross.test/").await;
    let visitor = claimant(world, client, username).await;
    let olga = operator(world).await;
    let token = claim_by_email(world, &visitor, CLAIM, "clara@redcross.test").await;
    prove(&visitor, 303, &token).await;
    let id = id_of(world, username).await;
    olga.post(303, &format!("{OPERATOR}/{id}/approve"), &[]).await;
    (visitor, olga)
}

/// The path of the page on which the Red Cross is run.
async fn manage_path(visitor: &Visitor) -> String {
    let page = visitor.get(200, "/dashboard/nonprofits").await.text();
    let id = between(&page, "href=\"/dashboard/nonprofits/", "\"");
    format!("/dashboard/nonprofits/{}", id.unwrap_or_else(|| panic!("{page}")))
}

async fn a_claim_by_dns_leads_to_the_first_edit(world: &World) {
    world.load_demo().await;
    file_website(world, EIN, "https://www.redcross.test/").await;
    let record = Arc::new(Mutex::new("causeway-verification=".to_owned()));
    let dns = serve_record(Arc::clone(&record)).await;
    let (app, client) = server(world, Approval::Operator, Some(dns)).await;
    let olga = operator(world).await;
    assert!(
        client
            .get_plain(200, "/american-red-cross")
            .await
            .text()
            .contains("/american-red-cross/claim")
    );
    let visitor = claimant(world, &client, "clara").await;
    let form = visitor.get(200, CLAIM).await.text();
    assert!(
        form.contains("redcross.test is the website in the newest return"),
        "{form}"
    );
    let created = visitor.post(303, CLAIM, &by_domain()).await;
    let path = created.header("location").to_owned();
    let page = visitor.get(200, &path).await.text();
    let token = between(&page, "causeway-verification=", "<").unwrap();
    assert!(page.contains("_causeway.redcross.test"), "{page}");
    let check = format!("{path}/check");
    assert!(
        visitor
            .post(422, &check, &[])
            .await
            .text()
            .contains("We did not find the token")
    );
    *record.lock().unwrap() = format!("causeway-verification={token}");
    // An operator cannot approve what is not proven.
    let id = path.rsplit('/').next().unwrap();
    olga.post(422, &format!("{OPERATOR}/{id}/approve"), &[]).await;
    assert!(approved(world).await.is_empty());
    visitor.post(303, &check, &[]).await;
    assert_eq!(states(world).await, ["proven"]);
    let waiting = olga.get(200, OPERATOR).await.text();
    assert!(
        waiting.contains("Clara Barton") && waiting.contains("Token at redcross.test"),
        "{waiting}"
    );
    visitor.get(403, OPERATOR).await;
    olga.post(303, &format!("{OPERATOR}/{id}/approve"), &[]).await;
    assert_eq!(approved(world).await, ["clara"]);
    let edit = format!("{}/edit", manage_path(&visitor).await);
    let fields = [
        ("description", "We <help>."),
        ("thanks", "Thank you <all>!"),
        ("website", ""),
        ("humans", "1"),
    ];
    visitor.post(303, &edit, &fields).await;
    app.refresh_directory().await.unwrap();
    let page = client.get_plain(200, "/american-red-cross").await.text();
    assert!(page.contains("We &#60;help&#62;."), "{page}");
    assert!(page.contains("The nonprofit, on "), "{page}");
    let details = client
        .get(200, "/v0.2/nonprofit/american-red-cross?include=sources")
        .await;
    assert_eq!(details.json["data"]["nonprofit"]["description"], "We <help>.");
    assert!(
        details.text().contains("\"source\":\"nonprofit\""),
        "{}",
        details.text()
    );
    let give = "/american-red-cross/give";
    let donor = Visitor::with_client(&client);
    let once = hidden(&donor.get(200, give).await.text(), "once");
    let fields = [("amount", "25"), ("email", "donor@example.org"), ("once", &once)];
    let pay = donor.post(303, give, &fields).await.header("location").to_owned();
    donor.post(303, &pay, &[("card", "4242 4242 4242 4242")]).await;
    let page = donor.get(200, &pay).await.text();
    assert!(page.contains("Thank you &#60;all&#62;!"), "{page}");
    eventually("the receipt is sent", async || {
        let all = with_subject(world, "Test mode: Your donation").await;
        all.into_iter()
            .find(|email| email.contains("writes:\n\n> Thank you <all>!"))
    })
    .await;
    let audit = world.texts("select act from audit order by id").await;
    assert_eq!(
        audit,
        ["claim request", "claim prove", "claim approve", "nonprofit edit"]
    );
    let sent = emails(world, 3).await;
    for subject in ["Your claim of", "Claim to decide", "You run the page of"] {
        assert!(
            sent.iter()
                .any(|email| email.contains(&format!("Subject: {subject}"))),
            "{sent:?}"
        );
    }
    app.db.close().await;
}

async fn what_a_nonprofit_says_outlives_imports_and_can_be_reverted(world: &World) {
    world.load_demo().await;
    let (app, client) = server(world, Approval::Operator, None).await;
    let (visitor, _) = administrator(world, &client, "clara").await;
    let edit = format!("{}/edit", manage_path(&visitor).await);
    visitor
        .post(303, &edit, &[("description", "Our own words.")])
        .await;
    let line = r#"{"ein":"530196605","description":"Imported words."}"#;
    for _ in 0..2 {
        world.import_nonprofits(line).await.unwrap();
    }
    let shown = async || {
        world.app.refresh_directory().await.unwrap();
        let details = world.client.get(200, "/v0.2/nonprofit/american-red-cross").await;
        details.json["data"]["nonprofit"]["description"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(shown().await, "Our own words.");
    // A new snapshot says the same.
    world.app.directory.rebuild().await.unwrap();
    assert_eq!(shown().await, "Our own words.");
    let form = visitor.get(200, &edit).await.text();
    assert!(form.contains("In the files: Imported words."), "{form}");
    visitor
        .post(422, &edit, &[("website", "javascript:alert(1)")])
        .await;
    visitor
        .post(422, &edit, &[("description", &"x".repeat(301))])
        .await;
    visitor.post(303, &edit, &[("description", "")]).await;
    assert_eq!(shown().await, "Imported words.");
    // What is the same as the filed value stays filed.
    visitor
        .post(303, &edit, &[("description", "Imported words.")])
        .await;
    assert!(world.texts("select field from own_fields").await.is_empty());
    app.db.close().await;
}

async fn a_link_proves_an_address_once(world: &World) {
    world.load_demo().await;
    file_website(world, EIN, "https://www.redcross.test/").await;
    let (app, client) = server(world, Approval::Proof, None).await;
    let visitor = claimant(world, &client, "clara").await;
    let other = claimant(world, &client, "mallory").await;
    let token = claim_by_email(world, &visitor, CLAIM, "clara@redcross.test").await;
    let url = format!("/dashboard/nonprofits/prove?token={token}");
    other.get(410, &url).await;
    prove(&other, 410, &token).await;
    assert!(
        visitor
            .get(200, &url)
            .await
            .text()
            .contains("clara@redcross.test")
    );
    prove(&visitor, 303, &token).await;
    assert_eq!(approved(world).await, ["clara"]);
    prove(&visitor, 410, &token).await;
    visitor.get(410, &url).await;
    // It is also of no use as an invitation.
    other
        .get(410, &format!("/dashboard/nonprofits/join?token={token}"))
        .await;
    app.db.close().await;
}

async fn no_hostile_claim_succeeds(world: &World) {
    world.load_demo().await;
    let (app, client) = server(world, Approval::Proof, None).await;
    let mut tried = 0;
    let mallory = claimant(world, &client, "mallory").await;
    tried += claim_with_wrong_addresses(world, &mallory).await;
    tried += claim_with_doubtful_domains(world, &mallory).await;
    file_website(world, 999_999_999, "").await;
    file_website(world, EIN, "https://redcross.test").await;
    // An expired link, and one whose domain the nonprofit no longer files.
    let token = claim_by_email(world, &mallory, CLAIM, "m@redcross.test").await;
    world.app.clock.advance(DAY + Duration::from_secs(1));
    prove(&mallory, 410, &token).await;
    withdraw(&mallory).await;
    let token = claim_by_email(world, &mallory, CLAIM, "m@redcross.test").await;
    file_website(world, EIN, "https://new.example").await;
    prove(&mallory, 422, &token).await;
    withdraw(&mallory).await;
    file_website(world, EIN, "https://redcross.test").await;
    tried += 2;
    // Invented and damaged links.
    for token in ["", "x", &"A".repeat(43), &token[1..]] {
        prove(&mallory, 410, token).await;
        mallory
            .get(410, &format!("/dashboard/nonprofits/join?token={token}"))
            .await;
        tried += 2;
    }
    // Not signed in, and without a second factor.
    let eve = Visitor::with_client(&client);
    eve.get(303, CLAIM).await;
    eve.sign_up("eve").await;
    assert!(
        eve.get(200, CLAIM)
            .await
            .text()
            .contains("Turn on two-factor sign-in first")
    );
    eve.post(200, CLAIM, &by_email("eve@redcross.test")).await;
    tried += 2;
    // The check of a domain where nobody published the token.
    let created = mallory.post(303, CLAIM, &by_domain()).await;
    let path = created.header("location").to_owned();
    mallory.post(422, &format!("{path}/check"), &[]).await;
    // Steps of a claim that belongs to someone else.
    for step in ["", "/check", "/resend", "/withdraw"] {
        let url = format!("{path}{step}");
        if step.is_empty() {
            eve.get(404, &url).await;
        } else {
            eve.post(404, &url, &[]).await;
        }
        tried += 1;
    }
    let claim = path.rsplit('/').next().unwrap();
    mallory
        .post(403, &format!("{OPERATOR}/{claim}/approve"), &[])
        .await;
    tried += 2;
    assert!(approved(world).await.is_empty());
    assert!(tried >= 50, "{tried}");
    app.db.close().await;
}

/// Claims with addresses and websites that prove nothing. Returns the number of claims.
async fn claim_with_wrong_addresses(world: &World, mallory: &Visitor) -> usize {
    let mut tried = 0;
    // Addresses that are not at the domain.
    file_website(world, EIN, "https://www.redcross.test/").await;
    for email in [
        "mallory@gmail.com",
        "redcross.test@gmail.com",
        "mallory@redcross.com",
        "mallory@redcross.test.evil.example",
        "mallory@evil-redcross.test",
        "mallory@www.redcross.test",
        "mallory@mail.redcross.test",
        "mallory@rеdcross.org",
        "mallory@xn--rdcross-hng.org",
        "mallory@redcross。org.evil.example",
        "mallory@org",
        "mallory@evil.example,clara@redcross.test",
        "mallory@evil.example clara@redcross.test",
        "clara@redcross.test\r\nBcc: mallory@evil.example",
        "clara@redcross.test@evil.example",
        "\"clara@redcross.test\"@evil.example",
        "<clara@redcross.test>mallory@evil.example",
        "mallory@[127.0.0.1]",
        "clara%redcross.test@evil.example",
        "",
    ] {
        mallory.post(422, CLAIM, &by_email(email)).await;
        tried += 1;
    }
    // Websites that prove nothing.
    for url in [
        "https://www.facebook.com/redcross",
        "https://gmail.com",
        "http://www.yahoo.com",
        "https://redcross.wixsite.com/home",
        "https://sites.google.com/view/redcross",
        "https://redcross.github.io",
        "https://linktr.ee/redcross",
        "https://rеdcross.org",
        "https://127.0.0.1",
        "https://localhost",
        "ftp://redcross",
        "",
    ] {
        file_website(world, EIN, url).await;
        for fields in [&by_email("mallory@gmail.com")[..], &by_domain()[..]] {
            let page = mallory.post(422, CLAIM, fields).await.text();
            assert!(page.contains("names no website"), "{url}: {page}");
        }
        tried += 1;
    }
    assert!(states(world).await.is_empty());
    tried
}

/// Proves claims whose domain leaves doubt, so that an operator decides. Returns the number of claims.
async fn claim_with_doubtful_domains(world: &World, mallory: &Visitor) -> usize {
    let mut tried = 0;
    // A domain that another nonprofit filed too, a page of a domain, an address that any student has: an operator decides.
    let other = "https://redcross.test/chapters";
    for (own, others) in [
        ("https://redcross.test", "http://www.redcross.test/"),
        ("https://redcross.test", other),
        (other, ""),
        ("https://redcross.edu", ""),
    ] {
        file_website(world, EIN, own).await;
        file_website(world, 999_999_999, others).await;
        let email = if own.ends_with("edu") {
            "m@redcross.edu"
        } else {
            "m@redcross.test"
        };
        let token = claim_by_email(world, mallory, CLAIM, email).await;
        prove(mallory, 303, &token).await;
        assert_eq!(states(world).await.last().unwrap(), "proven", "{own} {others}");
        withdraw(mallory).await;
        // The link of a claim that was withdrawn.
        prove(mallory, 410, &token).await;
        world.app.clock.advance(DAY);
        tried += 2;
    }
    tried
}

/// Withdraws the newest claim of a visitor.
async fn withdraw(visitor: &Visitor) {
    let page = visitor.get(200, "/dashboard/nonprofits").await.text();
    let id = between(&page, "/dashboard/nonprofits/claims/", "\"").unwrap();
    visitor
        .post(303, &format!("/dashboard/nonprofits/claims/{id}/withdraw"), &[])
        .await;
}

async fn of_two_claimants_at_the_same_time_one_is_approved(world: &World) {
    world.load_demo().await;
    file_website(world, EIN, "https://www.redcross.test/").await;
    let (app, client) = server(world, Approval::Proof, None).await;
    let (clara, mallory) = (
        claimant(world, &client, "clara").await,
        claimant(world, &client, "mallory").await,
    );
    let first = claim_by_email(world, &clara, CLAIM, "clara@redcross.test").await;
    let second = claim_by_email(world, &mallory, CLAIM, "mallory@redcross.test").await;
    tokio::join!(prove(&clara, 303, &first), prove(&mallory, 303, &second));
    assert_eq!(approved(world).await.len(), 1);
    let mut all = states(world).await;
    all.sort();
    assert_eq!(all, ["approved", "proven"]);
    app.db.close().await;
}

async fn an_invitation_works_once(world: &World) {
    world.load_demo().await;
    let (app, client) = server(world, Approval::Operator, None).await;
    let (clara, olga) = administrator(world, &client, "clara").await;
    let manage = manage_path(&clara).await;
    let invite = async |visitor: &Visitor, email: &str, role: &str| {
        let before = with_subject(world, INVITATION).await;
        visitor
            .post(
                303,
                &format!("{manage}/invite"),
                &[("email", email), ("role", role)],
            )
            .await;
        next_token(world, INVITATION, &before).await
    };
    let join = "/dashboard/nonprofits/join";
    let accept = |token: &str| {
        [
            ("token", token.to_owned()),
            ("person", "Edith".to_owned()),
            ("position", "Writer".to_owned()),
        ]
    };
    let post = async |visitor: &Visitor, status: u16, token: &str| {
        let fields = accept(token);
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        visitor.post(status, join, &fields).await.text()
    };
    let edith = claimant(world, &client, "edith").await;
    let frank = claimant(world, &client, "frank").await;
    let token = invite(&clara, "edith@example.com", "editor").await;
    assert!(
        edith
            .get(200, &format!("{join}?token={token}"))
            .await
            .text()
            .contains("Editor")
    );
    post(&clara, 422, &token).await;
    post(&edith, 303, &token).await;
    assert_eq!(approved(world).await, ["clara", "edith"]);
    // Used twice.
    post(&frank, 410, &token).await;
    post(&edith, 410, &token).await;
    // An editor edits, and invites nobody.
    edith
        .post(
            303,
            &format!("{manage}/edit"),
            &[("description", "By an editor.")],
        )
        .await;
    edith
        .post(
            303,
            &format!("{manage}/invite"),
            &[("email", "frank@example.com"), ("role", "administrator")],
        )
        .await;
    assert!(!edith.get(200, &manage).await.text().contains("Send invitation"));
    assert_eq!(with_subject(world, INVITATION).await.len(), 1);
    // Withdrawn, expired, and from somebody who no longer runs the page.
    let token = invite(&clara, "frank@example.com", "administrator").await;
    let page = clara.get(200, &manage).await.text();
    let created = between(&page, "name=\"created\" value=\"", "\"").unwrap();
    let url = format!("{manage}/withdraw-invitation");
    edith.post(303, &url, &[("created", &created)]).await;
    assert!(clara.get(200, &manage).await.text().contains("frank@example.com"));
    clara.post(303, &url, &[("created", &created)]).await;
    post(&frank, 410, &token).await;
    let token = invite(&clara, "frank@example.com", "administrator").await;
    world.app.clock.advance(7 * DAY);
    post(&frank, 410, &token).await;
    let token = invite(&clara, "frank@example.com", "administrator").await;
    let claims = clara.get(200, &manage).await.text();
    let own = between(&claims, "/dashboard/nonprofits/claims/", "\"").unwrap();
    olga.post(
        303,
        &format!("{OPERATOR}/{own}/end"),
        &[("reason", "Left the Red Cross.")],
    )
    .await;
    assert_eq!(approved(world).await, ["edith"]);
    post(&frank, 410, &token).await;
    clara.get(404, &manage).await;
    clara
        .post(404, &format!("{manage}/edit"), &[("description", "Mine.")])
        .await;
    let sent = emails(world, 1).await;
    assert!(
        sent.iter().any(|email| email.contains("Left the Red Cross.")),
        "{sent:?}"
    );
    // A frank claim tells nobody, since nobody administers the page any more.
    frank.post(303, CLAIM, &by_domain()).await;
    app.db.close().await;
}

async fn a_decision_needs_a_current_proof_and_a_second_factor(world: &World) {
    world.load_demo().await;
    file_website(world, EIN, "https://www.redcross.test/").await;
    let (app, client) = server(world, Approval::Operator, None).await;
    let olga = operator(world).await;
    let visitor = claimant(world, &client, "clara").await;
    let token = claim_by_email(world, &visitor, CLAIM, "clara@redcross.test").await;
    prove(&visitor, 303, &token).await;
    let id = id_of(world, "clara").await;
    let approve = format!("{OPERATOR}/{id}/approve");
    file_website(world, EIN, "https://other.example/").await;
    assert!(
        olga.post(422, &approve, &[])
            .await
            .text()
            .contains("another website by now")
    );
    file_website(world, EIN, "https://redcross.test/").await;
    world.execute("update two_factor set enabled_at = null").await;
    assert!(
        olga.post(422, &approve, &[])
            .await
            .text()
            .contains("no two-factor sign-in")
    );
    world.execute("update two_factor set enabled_at = 1").await;
    world
        .execute("update accounts set suspended_at = 1 where username = 'clara'")
        .await;
    assert!(
        olga.post(422, &approve, &[])
            .await
            .text()
            .contains("suspended or deleted")
    );
    world.execute("update accounts set suspended_at = null").await;
    olga.post(303, &approve, &[]).await;
    assert_eq!(approved(world).await, ["clara"]);
    let manage = manage_path(&visitor).await;
    visitor.get(200, &manage).await;
    // Whoever turns off the second factor can do nothing until it is on again.
    world.execute("update two_factor set enabled_at = null").await;
    visitor.get(404, &manage).await;
    world.execute("update two_factor set enabled_at = 1").await;
    visitor.get(200, &manage).await;
    withdraw_own(&visitor, &manage).await;
    assert!(approved(world).await.is_empty());
    visitor.get(404, &manage).await;
    app.db.close().await;
}

/// Stops running a page.
async fn withdraw_own(visitor: &Visitor, manage: &str) {
    let page = visitor.get(200, manage).await.text();
    let id = between(&page, "/dashboard/nonprofits/claims/", "\"").unwrap();
    visitor
        .post(303, &format!("/dashboard/nonprofits/claims/{id}/withdraw"), &[])
        .await;
}

async fn a_document_is_read_by_operators_and_deleted(world: &World) {
    world.load_demo().await;
    file_website(world, EIN, "").await;
    let (app, client) = server(world, Approval::Proof, None).await;
    let olga = operator(world).await;
    let visitor = claimant(world, &client, "clara").await;
    assert!(visitor.get(200, CLAIM).await.text().contains("type=\"file\""));
    let fields = [("person", "Clara"), ("position", "President")];
    for content in [
        &b"<script>alert(1)</script>"[..],
        b"",
        &vec![b'%'; 5 * 1024 * 1024 + 1],
    ] {
        visitor.upload(422, CLAIM, &fields, Some(content)).await;
    }
    visitor.upload(422, CLAIM, &fields, None).await;
    let created = visitor
        .upload(303, CLAIM, &fields, Some(b"%PDF-1.7 letter"))
        .await;
    assert_eq!(states(world).await, ["requested"]);
    let claim = created.header("location").rsplit('/').next().unwrap().to_owned();
    let document = format!("{OPERATOR}/{claim}/document");
    visitor.get(403, &document).await;
    let response = olga.get(200, &document).await;
    assert_eq!(response.text(), "%PDF-1.7 letter");
    assert!(response.header("content-disposition").starts_with("attachment"));
    let stored = access::claims::store::remove_documents(&world.app.db, world.app.clock.millis());
    assert_eq!(stored.await.unwrap(), 0);
    olga.post(303, &format!("{OPERATOR}/{claim}/approve"), &[]).await;
    assert_eq!(approved(world).await, ["clara"]);
    world.app.clock.advance(30 * DAY);
    let removed = access::claims::store::remove_documents(&world.app.db, world.app.clock.millis());
    assert_eq!(removed.await.unwrap(), 1);
    olga.sign_in(303, "olga", super::visitor::PASSWORD).await;
    olga.get(404, &document).await;
    app.db.close().await;
}

async fn a_nonprofit_stops_and_accepts_donations_at_once(world: &World) {
    world.load_demo().await;
    let (app, client) = server(world, Approval::Operator, None).await;
    let (clara, olga) = administrator(world, &client, "clara").await;
    let new = "/dashboard/fundraisers/new";
    let once = hidden(&clara.get(200, new).await.text(), "once");
    let red_cross = client.get(200, "/v0.2/nonprofit/american-red-cross").await;
    let id = red_cross.json["data"]["nonprofit"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let fields = [
        ("nonprofit", id.as_str()),
        ("title", "Spring run"),
        ("once", &once),
    ];
    clara.post(303, new, &fields).await;
    let give = [
        "/american-red-cross/give",
        "/american-red-cross/f/spring-run/give",
    ];
    let is_open = async |path: &str| client.get_plain(200, path).await.text().contains("id=\"donate\"");
    for path in give {
        assert!(is_open(path).await, "{path}");
    }
    let close = format!("{}/close", manage_path(&clara).await);
    olga.get(404, &close).await;
    clara
        .post(303, &close, &[("reason", "We did not ask for \0<this>.")])
        .await;
    clara.post(303, &close, &[("reason", "Again.")]).await;
    for path in give {
        let page = client.get_plain(200, path).await.text();
        assert!(page.contains("cannot receive donations"), "{page}");
        let donor = Visitor::with_client(&client);
        let once = uuid::Uuid::now_v7().to_string();
        donor.post(422, path, &[("amount", "25"), ("once", &once)]).await;
    }
    let page = client.get_plain(200, "/american-red-cross").await.text();
    assert!(page.contains("does not want to receive donations here"), "{page}");
    let details = client.get(200, "/v0.2/nonprofit/american-red-cross").await;
    assert_eq!(details.json["data"]["nonprofit"]["isDisbursable"], false);
    let seen = olga.get(200, OPERATOR).await.text();
    assert!(seen.contains("We did not ask for &#60;this&#62;."), "{seen}");
    clara.post(303, &close, &[("action", "open")]).await;
    for path in give {
        assert!(is_open(path).await, "{path}");
    }
    clara.post(303, &close, &[]).await;
    let open = format!("{OPERATOR}/open-again");
    olga.post(303, &open, &[("nonprofit", &id)]).await;
    olga.post(303, &open, &[("nonprofit", &id)]).await;
    app.refresh_directory().await.unwrap();
    assert!(is_open(give[0]).await);
    app.db.close().await;
}

async fn consents_are_kept_with_their_wording(world: &World) {
    world.load_demo().await;
    let (app, client) = server(world, Approval::Operator, None).await;
    let (clara, olga) = administrator(world, &client, "clara").await;
    let mut config = world.app.config.clone();
    config.claims.without_consent = WithoutConsent::Refuse;
    let strict = App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap();
    strict.refresh_directory().await.unwrap();
    let strict_client = Client::new(&strict, &world.client.key);
    let unreviewed = "has not consented to this page";
    let page = strict_client.get_plain(200, "/american-red-cross").await.text();
    assert!(
        page.contains(unreviewed) && page.contains("has not agreed"),
        "{page}"
    );
    let consent = format!("{}/consent", manage_path(&clara).await);
    let form = clara.get(200, &consent).await.text();
    assert!(form.contains("consents to a page on"), "{form}");
    let officer = [("person", "Clara =Barton"), ("position", "President")];
    clara.post(422, &consent, &officer).await;
    let agreed = [officer[0], officer[1], ("authorized", "1")];
    clara.post(303, &consent, &agreed).await;
    clara.post(303, &consent, &agreed).await;
    assert!(clara.get(200, &consent).await.text().contains("Given by Clara"));
    strict.refresh_directory().await.unwrap();
    let page = strict_client.get_plain(200, "/american-red-cross").await.text();
    assert!(!page.contains(unreviewed), "{page}");
    let give = strict_client
        .get_plain(200, "/american-red-cross/give")
        .await
        .text();
    assert!(give.contains("id=\"donate\""), "{give}");
    clara.post(303, &consent, &[("action", "withdraw")]).await;
    clara.post(303, &consent, &[("action", "withdraw")]).await;
    strict.refresh_directory().await.unwrap();
    let page = strict_client.get_plain(200, "/american-red-cross").await.text();
    assert!(page.contains(unreviewed), "{page}");
    let export = format!("{OPERATOR}/consents.csv");
    clara.get(403, &export).await;
    let export = olga.get(200, &export).await.text();
    assert_eq!(export.lines().count(), 2, "{export}");
    assert!(
        export.contains("\"Clara =Barton\",\"President\",\"clara\""),
        "{export}"
    );
    strict.db.close().await;
    app.db.close().await;
}

/// Creates a fundraiser for the Red Cross and returns its path on the dashboard.
async fn create_fundraiser(visitor: &Visitor, expected: u16, title: &str) -> String {
    let new = "/dashboard/fundraisers/new";
    let once = hidden(&visitor.get(200, new).await.text(), "once");
    let red_cross = crate::api::fundraisers::RED_CROSS;
    let fields = [("nonprofit", red_cross), ("title", title), ("once", &once)];
    visitor.post(expected, new, &fields).await;
    once
}

async fn a_nonprofit_approves_and_declines_fundraisers(world: &World) {
    world.load_demo().await;
    let (app, client) = server(world, Approval::Operator, None).await;
    let (clara, _) = administrator(world, &client, "clara").await;
    let page = format!("{}/fundraisers", manage_path(&clara).await);
    let grace = Visitor::with_client(&client);
    grace.sign_up("grace").await;
    let open = create_fundraiser(&grace, 303, "Open run").await;
    clara.post(303, &page, &[("rule", "approve")]).await;
    let waiting = create_fundraiser(&grace, 303, "Waiting run").await;
    let other = create_fundraiser(&grace, 303, "Other run").await;
    let path = |slug: &str| format!("/american-red-cross/f/{slug}");
    client.get_plain(200, &path("open-run")).await;
    client.get_plain(404, &path("waiting-run")).await;
    grace
        .post(404, &page, &[("fundraiser", &waiting), ("action", "approve")])
        .await;
    let list = clara.get(200, &page).await.text();
    assert!(
        list.contains("Waiting run") && list.contains("Other run"),
        "{list}"
    );
    let decide = async |id: &str, action: &str| {
        clara
            .post(303, &page, &[("fundraiser", id), ("action", action)])
            .await;
    };
    decide(&waiting, "approve").await;
    client.get_plain(200, &path("waiting-run")).await;
    decide(&other, "decline").await;
    client.get_plain(404, &path("other-run")).await;
    let seen = grace
        .get(200, &format!("/dashboard/fundraisers/{other}"))
        .await
        .text();
    assert!(seen.contains("The nonprofit declined it."), "{seen}");
    // What an operator has hidden stays hidden.
    world
        .execute("update fundraisers set hidden_at = 1, hidden_reason = 'Spam' where title = 'Open run'")
        .await;
    decide(&open, "approve").await;
    assert_eq!(
        world
            .texts("select hidden_reason from fundraisers where title = 'Open run'")
            .await,
        ["Spam"]
    );
    clara.post(303, &page, &[("rule", "decline")]).await;
    clara.post(404, &page, &[("rule", "nonsense")]).await;
    create_fundraiser(&grace, 422, "Declined run").await;
    decide(&waiting, "decline").await;
    client.get_plain(404, &path("waiting-run")).await;
    clara.post(303, &page, &[("rule", "open")]).await;
    create_fundraiser(&grace, 303, "Last run").await;
    client.get_plain(200, &path("last-run")).await;
    app.db.close().await;
}

async fn donations_and_pictures_are_for_those_who_run_the_page(world: &World) {
    world.load_demo().await;
    let (app, client) = server(world, Approval::Operator, None).await;
    let (clara, olga) = administrator(world, &client, "clara").await;
    let manage = manage_path(&clara).await;
    let give = "/american-red-cross/give";
    for (name, share) in [("Ada Open", "yes"), ("Secret Ben", "no")] {
        let donor = Visitor::with_client(&client);
        let once = hidden(&donor.get(200, give).await.text(), "once");
        let email = format!("{}@example.org", &name[..3]);
        let fields = [
            ("amount", "25"),
            ("name", name),
            ("email", &email),
            ("share_contact", share),
            ("once", &once),
        ];
        let pay = donor.post(303, give, &fields).await.header("location").to_owned();
        donor.post(303, &pay, &[("card", "4242 4242 4242 4242")]).await;
    }
    let donations = format!("{manage}/donations");
    olga.get(404, &donations).await;
    let page = clara.get(200, &donations).await.text();
    assert!(
        page.contains("Ada Open") && page.matches("$25").count() >= 2,
        "{page}"
    );
    assert!(
        !page.contains("Secret Ben") && page.contains("Anonymous"),
        "{page}"
    );
    while app.fan_out_events().await.unwrap() {}
    let events =
        "select e.kind from events e join accounts a on a.id = e.account_id where a.username = 'clara'";
    assert_eq!(
        world.texts(events).await,
        ["donation.succeeded", "donation.succeeded"]
    );
    let logo = format!("{manage}/logo");
    clara.upload(422, &logo, &[], Some(b"no picture")).await;
    clara
        .upload(303, &logo, &[], Some(&picture_file(7, 64, 64)))
        .await;
    let hosted = world
        .texts("select value from own_fields where field = 'logo'")
        .await;
    app.refresh_directory().await.unwrap();
    let details = client.get(200, "/v0.2/nonprofit/american-red-cross").await;
    assert_eq!(details.json["data"]["nonprofit"]["logoHostedId"], hosted[0]);
    client.get_plain(200, &format!("/media/{}", hosted[0])).await;
    clara.upload(303, &logo, &[("remove_picture", "1")], None).await;
    assert!(world.texts("select value from own_fields").await.is_empty());
    app.db.close().await;
}
