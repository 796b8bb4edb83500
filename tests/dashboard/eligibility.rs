//! Operators decide whether nonprofits may receive donations.

use super::operator::operator;
use super::visitor::Visitor;
use crate::api::fundraisers::Organizer;
use crate::world::World;
use serde_json::json;

on_both_databases!(an_operator_stops_a_nonprofit_and_lets_it_receive_again);

const PATH: &str = "/dashboard/operator/eligibility";
const EIN: &str = "530196605";

async fn an_operator_stops_a_nonprofit_and_lets_it_receive_again(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let operator = operator(world).await;
    let visitor = Visitor::new(world);
    let is_disbursable = async || {
        let details = world.client.details(200, EIN).await;
        details.nonprofit()["isDisbursable"].as_bool().unwrap()
    };
    assert!(is_disbursable().await);
    let page = visitor.get(200, "/american-red-cross/eligibility").await.text();
    assert!(
        page.contains("It passes every check that this site requires."),
        "{page}"
    );
    let page = operator.get(200, PATH).await.text();
    assert!(
        page.contains("Nothing to decide.") && page.contains("No decisions."),
        "{page}"
    );

    let fields = |note| {
        [
            ("ein", "53-0196605"),
            ("check", "operator"),
            ("outcome", "fail"),
            ("note", note),
        ]
    };
    let decide = format!("{PATH}/decide");
    operator.post(422, &decide, &fields("")).await;
    assert!(is_disbursable().await);
    operator
        .post(303, &decide, &fields("It wants no donations"))
        .await;
    assert!(!is_disbursable().await);
    let page = operator.get(200, PATH).await.text();
    assert!(
        page.contains("Decision saved.") && page.contains("It wants no donations"),
        "{page}"
    );
    let page = visitor.get(200, "/american-red-cross/eligibility").await.text();
    assert!(page.contains("An operator of this server stopped it"), "{page}");
    assert!(!page.contains("It wants no donations"), "{page}");
    // Its fundraiser takes no donations.
    let path = format!("/american-red-cross/f/{}", created["slug"].as_str().unwrap());
    let page = visitor.get(200, &path).await.text();
    assert!(page.contains("so the fundraiser accepts none"), "{page}");
    assert!(!page.contains("name=\"amount\""), "{page}");
    let audit = operator.get(200, "/dashboard/operator/audit").await.text();
    assert!(audit.contains("eligibility decide"), "{audit}");
    let changes =
        world.texts("select old_verdict || ' ' || new_verdict from eligibility_history order by id");
    assert_eq!(changes.await, ["yes no"]);

    let undo = [("ein", EIN), ("check", "operator")];
    operator.post(303, &format!("{PATH}/undo"), &undo).await;
    assert!(is_disbursable().await);
    let changes =
        world.texts("select old_verdict || ' ' || new_verdict from eligibility_history order by id");
    assert_eq!(changes.await, ["yes no", "no yes"]);
}
