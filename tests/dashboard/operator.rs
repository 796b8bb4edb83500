//! The operator pages.

use super::visitor::{PASSWORD, Visitor, between};
use crate::world::World;

on_both_databases!(
    an_operator_blocks_a_key_with_a_reason_that_its_owner_sees,
    operator_pages_are_only_for_operators,
    an_operator_sees_imports_and_failed_requests,
);

const PAGES: [&str; 8] = [
    "",
    "/accounts",
    "/search?q=x",
    "/nonprofits/530196605",
    "/keys",
    "/imports",
    "/errors",
    "/audit",
];

pub async fn operator(world: &World) -> Visitor {
    let visitor = Visitor::new(world);
    visitor.sign_up("olga").await;
    world
        .execute("update accounts set operator = true where username = 'olga'")
        .await;
    visitor
}

async fn an_operator_blocks_a_key_with_a_reason_that_its_owner_sees(world: &World) {
    world.load_demo().await;
    let owner = Visitor::new(world);
    owner.sign_up("grace").await;
    let caller = world
        .client
        .with_key(&owner.create_key("public", "website").await);
    caller.details(200, "530196605").await;
    let list = owner.get(200, "/dashboard").await.text();
    let id = between(&list, "id=\"key-", "\"").unwrap();
    let page = format!("/dashboard/operator/keys/{id}");

    let operator = operator(world).await;
    assert!(
        operator
            .get(200, "/dashboard/operator/accounts?account=gr")
            .await
            .text()
            .contains("grace@example.org")
    );
    assert!(
        operator
            .get(200, "/dashboard/operator/keys?account=grace")
            .await
            .text()
            .contains(&id)
    );
    let refused = operator
        .post(422, &format!("{page}/block"), &[("reason", " ")])
        .await
        .text();
    assert!(refused.contains("href=\"#reason\""), "{refused}");
    let reason = "Too many calls </p><script>alert(1)</script>";
    operator
        .post(303, &format!("{page}/block"), &[("reason", reason)])
        .await;
    operator
        .post(303, &format!("{page}/block"), &[("reason", reason)])
        .await;
    world.app.access.keys.refresh().await.unwrap();
    assert_eq!(caller.details(403, "530196605").await.code(), "blocked_key");
    let owner_page = owner.get(200, "/dashboard").await.text();
    assert!(
        owner_page.contains("Too many calls") && !owner_page.contains("<script>alert"),
        "{owner_page}"
    );
    operator.post(303, &format!("{page}/unblock"), &[]).await;
    world.app.access.keys.refresh().await.unwrap();
    caller.details(200, "530196605").await;

    let limits = [
        ("details", "3"),
        ("search", "5000"),
        ("browse", "500"),
        ("causes", "500"),
        ("create", "2"),
        ("fundraisers", "x"),
        ("match", "60"),
        ("export", "20"),
        ("webhooks", "60"),
        ("events", "300"),
    ];
    operator.post(422, &format!("{page}/limits"), &limits).await;
    let mut limits = limits;
    limits[5].1 = "500";
    operator.post(303, &format!("{page}/limits"), &limits).await;
    world.app.access.keys.refresh().await.unwrap();
    assert_eq!(
        caller
            .get(200, "/v0.2/search/red")
            .await
            .header("ratelimit-policy"),
        "\"search\";q=5000;w=60"
    );

    let audit = operator.get(200, "/dashboard/operator/audit").await.text();
    for action in [
        "key block",
        "key unblock",
        "limit set",
        "details=3 search=5000",
        "olga",
    ] {
        assert!(audit.contains(action), "{action}: {audit}");
    }
    assert!(!audit.contains("<script>alert"));
}

async fn operator_pages_are_only_for_operators(world: &World) {
    let visitor = Visitor::new(world);
    for path in PAGES {
        visitor.get(303, &format!("/dashboard/operator{path}")).await;
    }
    visitor.sign_up("grace").await;
    let key = format!("/dashboard/operator/keys/{}", world.key_id);
    for path in PAGES {
        visitor.get(403, &format!("/dashboard/operator{path}")).await;
    }
    visitor.get(403, &key).await;
    for action in ["block", "unblock", "limits"] {
        visitor
            .post(403, &format!("{key}/{action}"), &[("reason", "x")])
            .await;
    }
    assert!(
        !visitor
            .get(200, "/dashboard")
            .await
            .text()
            .contains("/dashboard/operator")
    );
}

async fn an_operator_sees_imports_and_failed_requests(world: &World) {
    world.load_demo().await;
    let operator = operator(world).await;
    for path in PAGES {
        operator.get(200, &format!("/dashboard/operator{path}")).await;
    }
    assert!(
        operator
            .get(200, "/dashboard/operator/imports")
            .await
            .text()
            .contains("<td class=\"number\">")
    );
    operator
        .get(
            404,
            "/dashboard/operator/keys/00000000-0000-0000-0000-000000000000",
        )
        .await;
    operator
        .post(
            404,
            "/dashboard/operator/keys/00000000-0000-0000-0000-000000000000/block",
            &[("reason", "x")],
        )
        .await;
    operator.get(404, "/dashboard/operator/keys/x").await;
    world
        .execute("alter table key_usage rename to key_usage_gone")
        .await;
    operator.get(500, "/dashboard").await;
    world
        .execute("alter table key_usage_gone rename to key_usage")
        .await;
    let page = operator.get(200, "/dashboard/operator/errors").await.text();
    assert!(
        page.contains("GET /dashboard</code>") && page.contains(">500<"),
        "{page}"
    );
    operator.post(303, "/dashboard/sign-out", &[]).await;
    operator.sign_in(303, "olga", PASSWORD).await;
}
