//! `causeway import 990`: the facts of Form 990 returns.

use crate::cli::Cli;
use crate::files::{bmf, nonprofit_row, nonprofit_rows, zip};
use crate::returns::{Return, filed_return};
use crate::world::World;
use directory::nonprofits::ein::Ein;
use directory::nonprofits::sources::SourceId;
use directory::returns::profile::ReturnProfile;
use directory::returns::store::{StoredReturn, list_profiles, list_returns};
use ingest::{Importer, Summary};

on_both_databases!(
    the_facts_of_a_return_are_stored_with_their_source,
    a_newer_filing_replaces_an_older_one_but_not_the_other_way,
    the_last_five_periods_are_kept,
    importing_the_same_returns_again_changes_nothing,
    returns_can_be_imported_before_their_nonprofit,
    a_damaged_return_is_reported_and_the_others_are_imported,
    nothing_is_imported_if_no_return_can_be_read,
    the_newest_usable_value_of_each_kind_is_shown,
    many_changes_need_a_new_snapshot_and_few_do_not,
);

const LIBRARY: &str = "020240383";

/// Imports returns from one bundle, each under the name of a member.
async fn import(world: &World, members: &[(&str, &str)]) -> anyhow::Result<Summary> {
    let members: Vec<(&str, &[u8])> = members
        .iter()
        .map(|(name, xml)| (*name, xml.as_bytes()))
        .collect();
    import_bundle(world, zip(&members)).await
}

async fn import_bundle(world: &World, bundle: Vec<u8>) -> anyhow::Result<Summary> {
    let file = world.file("2024_TEOS_XML_01A.zip", bundle);
    let summary = world.app.importer().import_returns(&[file]).await?;
    world.app.refresh_directory().await?;
    let counts = summary.returns.unwrap();
    assert_eq!(
        summary.lines,
        summary.new
            + summary.changed
            + summary.unchanged
            + counts.outdated
            + counts.other_forms
            + summary.refused,
        "every document counts once: {summary:?}"
    );
    Ok(summary)
}

/// New, changed, unchanged and outdated returns, and the nonprofits that changed.
fn counts(summary: &Summary) -> [u64; 5] {
    let counts = summary.returns.unwrap();
    [
        summary.new,
        summary.changed,
        summary.unchanged,
        counts.outdated,
        counts.nonprofits_changed,
    ]
}

async fn stored(world: &World, ein: &str) -> Vec<StoredReturn> {
    list_returns(&world.app.db, Ein::parse(ein).unwrap())
        .await
        .unwrap()
}

async fn profile(world: &World, ein: &str) -> ReturnProfile {
    let mut tx = world.app.db.view().await.unwrap();
    let ein = Ein::parse(ein).unwrap().value();
    let mut profiles = list_profiles(&mut tx, &[ein]).await.unwrap();
    profiles.remove(&ein).unwrap()
}

/// All rows that an import of returns writes.
async fn dump(world: &World) -> Vec<String> {
    let mut rows = world
        .texts(
            "select cast(ein as text) || ' ' || cast(period as text) || ' ' || object_id || ' ' || \
             cast(source as text) || ' ' || facts || cast(digest as text) from returns order by 1",
        )
        .await;
    rows.extend(
        world
            .texts("select cast(ein as text) || coalesce(description, '') || cast(amounts_source as text) from return_profiles order by 1")
            .await,
    );
    rows.extend(
        world
            .texts("select cast(ein as text) || cast(revision as text) || field from nonprofit_history order by 1")
            .await,
    );
    rows
}

fn library(period_end: &str) -> Return {
    filed_return(LIBRARY, period_end)
}

async fn with_library(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
}

async fn the_facts_of_a_return_are_stored_with_their_source(world: &World) {
    with_library(world).await;
    let filed = library("2022-06-30")
        .named("Granite Town Library")
        .with("WebsiteAddressTxt", "WWW.GRANITE.EXAMPLE.ORG")
        .with("MissionDesc", "We lend books to everyone in Granite Town.")
        .with("FormationYr", "1901")
        .with("CYTotalRevenueAmt", "81000")
        .with("CYTotalExpensesAmt", "79000")
        .with("TotalAssetsEOYAmt", "-5")
        .with("TotalEmployeeCnt", "3");
    let xml = filed.xml();
    let summary = import(world, &[("202310319349300001_public.xml", &xml)])
        .await
        .unwrap();
    assert_eq!(counts(&summary), [1, 0, 0, 0, 1]);
    assert_eq!(world.app.directory.view().overlay.len(), 1, "no new snapshot");
    let [stored] = &stored(world, LIBRARY).await[..] else {
        panic!("one return");
    };
    let source = SourceId {
        revision: summary.revision,
        position: 1,
    };
    assert_eq!((stored.period, stored.source), (202_206, source));
    assert_eq!(stored.object_id, "202310319349300001");
    assert_eq!(
        (stored.form.as_str(), stored.facts.version.as_str()),
        ("990", "2022v5.0")
    );
    let amounts = stored.facts.amounts;
    assert_eq!(
        (
            amounts.revenue,
            amounts.expenses,
            amounts.assets,
            amounts.contributions
        ),
        (Some(81_000), Some(79_000), Some(-5), None)
    );
    assert_eq!((stored.facts.employees, stored.facts.volunteers), (Some(3), None));
    let shown = profile(world, LIBRARY).await;
    assert_eq!(shown.name.as_deref(), Some("Granite Town Library"));
    assert_eq!(
        shown.description.as_deref(),
        Some("We lend books to everyone in Granite Town.")
    );
    assert_eq!(
        shown.website_url.as_deref(),
        Some("https://www.granite.example.org")
    );
    assert_eq!(
        (
            shown.description_period,
            shown.website_period,
            shown.amounts_period
        ),
        (Some(202_206), Some(202_206), Some(202_206))
    );
    let source = Some(source.number());
    assert_eq!(
        (
            shown.description_source,
            shown.website_source,
            shown.amounts_source
        ),
        (source, source, source)
    );
    assert_eq!(
        (shown.formed, shown.revenue, shown.is_final),
        (Some(1901), Some(81_000), false)
    );
    let files = world
        .texts("select i.kind || ' ' || f.name from imports i join import_files f on f.revision = i.revision order by i.revision desc")
        .await;
    assert!(
        files[0].starts_with("990 ") && files[0].ends_with("2024_TEOS_XML_01A.zip"),
        "{files:?}"
    );
}

async fn a_newer_filing_replaces_an_older_one_but_not_the_other_way(world: &World) {
    with_library(world).await;
    let original = library("2022-12-31").revenue(1).xml();
    let amended = library("2022-12-31")
        .revenue(2)
        .with("AmendedReturnInd", "X")
        .xml();
    let (original, amended) = (
        ("202330319349300001_public.xml", original.as_str()),
        ("202323199349300002_public.xml", amended.as_str()),
    );
    let revenue = async || stored(world, LIBRARY).await[0].facts.amounts.revenue;
    assert_eq!(
        counts(&import(world, &[original]).await.unwrap()),
        [1, 0, 0, 0, 1]
    );
    assert_eq!(counts(&import(world, &[amended]).await.unwrap()), [0, 1, 0, 0, 1]);
    assert_eq!(revenue().await, Some(2));
    assert_eq!(profile(world, LIBRARY).await.revenue, Some(2));
    assert_eq!(
        counts(&import(world, &[original]).await.unwrap()),
        [0, 0, 0, 1, 0]
    );
    assert_eq!(revenue().await, Some(2));
    assert_eq!(stored(world, LIBRARY).await.len(), 1);
    // Both in one bundle, in either order.
    let both = import(world, &[amended, original]).await.unwrap();
    assert_eq!(counts(&both), [0, 0, 1, 1, 0]);
    // Without IDs, the time of filing decides.
    let later = library("2022-12-31")
        .revenue(3)
        .filed_at("2025-01-01T00:00:00Z")
        .xml();
    assert_eq!(
        counts(&import(world, &[("later.xml", &later)]).await.unwrap()),
        [0, 1, 0, 0, 1]
    );
    let earlier = library("2022-12-31")
        .revenue(4)
        .filed_at("2024-01-01T00:00:00Z")
        .xml();
    assert_eq!(
        counts(&import(world, &[("earlier.xml", &earlier)]).await.unwrap()),
        [0, 0, 0, 1, 0]
    );
    assert_eq!(revenue().await, Some(3));
}

async fn the_last_five_periods_are_kept(world: &World) {
    with_library(world).await;
    let years = |years: std::ops::Range<i32>| -> Vec<(String, String)> {
        years
            .map(|year| {
                let filed = library(&format!("{year}-12-31")).revenue(year.into());
                (format!("{year}.xml"), filed.xml())
            })
            .collect()
    };
    let bundle = |returns: &[(String, String)]| {
        let members: Vec<(&str, &[u8])> = returns
            .iter()
            .map(|(name, xml)| (name.as_str(), xml.as_bytes()))
            .collect();
        zip(&members)
    };
    let periods = async || -> Vec<u32> {
        let stored = stored(world, LIBRARY).await;
        stored.iter().map(|stored| stored.period).collect()
    };
    let first = import_bundle(world, bundle(&years(2014..2020))).await.unwrap();
    assert_eq!(counts(&first), [5, 0, 0, 1, 1]);
    assert_eq!(periods().await, [201_912, 201_812, 201_712, 201_612, 201_512]);
    let newer = import_bundle(world, bundle(&years(2020..2022))).await.unwrap();
    assert_eq!(counts(&newer), [2, 0, 0, 0, 1]);
    assert_eq!(periods().await, [202_112, 202_012, 201_912, 201_812, 201_712]);
    let older = import_bundle(world, bundle(&years(2010..2014))).await.unwrap();
    assert_eq!(counts(&older), [0, 0, 0, 4, 0]);
    assert_eq!(periods().await[4], 201_712);
    assert_eq!(profile(world, LIBRARY).await.revenue, Some(2021));
}

async fn importing_the_same_returns_again_changes_nothing(world: &World) {
    let rows = nonprofit_rows(60);
    world.import_irs(bmf(&rows)).await.unwrap();
    let returns: Vec<(String, String)> = (0..120)
        .map(|number| {
            let ein = (100_000_001 + number / 2).to_string();
            let filed = filed_return(&ein, &format!("{}-06-30", 2020 + number % 2))
                .revenue(number.into())
                .with("MissionDesc", &format!("We do good thing number {number}."));
            (format!("20223{:03}93493{number:05}.xml", 1 + number), filed.xml())
        })
        .collect();
    let members: Vec<(&str, &[u8])> = returns
        .iter()
        .map(|(name, xml)| (name.as_str(), xml.as_bytes()))
        .collect();
    let first = import_bundle(world, zip(&members)).await.unwrap();
    assert_eq!(counts(&first), [120, 0, 0, 0, 60]);
    let before = dump(world).await;
    assert!(before.len() > 120 + 60);
    let again = import_bundle(world, zip(&members)).await.unwrap();
    assert_eq!(counts(&again), [0, 0, 120, 0, 0]);
    assert_eq!(dump(world).await, before);
    // In reverse order, from two files with a part in both.
    let reversed: Vec<(&str, &[u8])> = members.iter().rev().copied().collect();
    let files = [
        world.file("a.zip", zip(&reversed[..90])),
        world.file("b.zip", zip(&reversed[50..])),
    ];
    let twice = world.app.importer().import_returns(&files).await.unwrap();
    assert_eq!(counts(&twice), [0, 0, 120, 40, 0]);
    assert_eq!(dump(world).await, before);
}

async fn returns_can_be_imported_before_their_nonprofit(world: &World) {
    let xml = library("2022-12-31")
        .revenue(7)
        .with("MissionDesc", "We lend books to everyone in Granite Town.")
        .xml();
    let summary = import(world, &[("early.xml", &xml)]).await.unwrap();
    assert_eq!(counts(&summary), [1, 0, 0, 0, 0]);
    with_library(world).await;
    let details = world.client.details(200, LIBRARY).await;
    assert_eq!(details.nonprofit()["ein"], LIBRARY);
    assert_eq!(stored(world, LIBRARY).await[0].facts.amounts.revenue, Some(7));
    assert_eq!(profile(world, LIBRARY).await.revenue, Some(7));
    assert_eq!(
        world.texts("select field from nonprofit_history").await,
        Vec::<String>::new(),
        "there was no nonprofit that could change"
    );
}

async fn a_damaged_return_is_reported_and_the_others_are_imported(world: &World) {
    with_library(world).await;
    let good = library("2022-12-31").revenue(1).xml();
    let cut = &good[..good.len() / 2];
    let no_ein = good.replace(LIBRARY, "12");
    let other = library("2022-12-31").xml_of("990T", "IRS990T");
    let summary = import(
        world,
        &[
            ("batch/cut.xml", cut),
            ("good.xml", &good),
            ("no-ein.xml", &no_ein),
            ("other.xml", &other),
        ],
    )
    .await
    .unwrap();
    assert_eq!(counts(&summary), [1, 0, 0, 0, 1]);
    assert_eq!((summary.lines, summary.refused), (4, 2));
    assert_eq!(summary.returns.unwrap().other_forms, 1);
    let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines.len(), 2, "{report}");
    assert!(
        lines[0].contains("2024_TEOS_XML_01A.zip: cut.xml: "),
        "the bundle, the member and the reason: {report}"
    );
    assert!(
        lines[1].contains("no-ein.xml: its EIN is missing or invalid"),
        "{report}"
    );
    assert_eq!(world.reports().len(), 1);
    let name = world.reports()[0].display().to_string();
    assert!(name.contains("import-990-"), "{name}");
}

async fn nothing_is_imported_if_no_return_can_be_read(world: &World) {
    with_library(world).await;
    let imports = world.imports().await;
    let good = library("2022-12-31").revenue(1).xml();
    let error = import(world, &[("cut.xml", &good[..90]), ("text.xml", "404 Not Found")])
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no return could be read") && error.contains("cut.xml"),
        "{error}"
    );
    let error = import_bundle(world, zip(&[])).await.unwrap_err().to_string();
    assert!(error.contains("no return"), "{error}");
    assert_eq!(world.imports().await, imports);
    assert_eq!(stored(world, LIBRARY).await, []);
}

async fn the_newest_usable_value_of_each_kind_is_shown(world: &World) {
    with_library(world).await;
    let old = library("2021-12-31")
        .revenue(1)
        .with("MissionDesc", "We lend books to everyone in Granite Town.")
        .with("WebsiteAddressTxt", "granite.example.org")
        .with("FormationYr", "1901")
        .xml();
    let new = library("2022-12-31")
        .revenue(2)
        .with("MissionDesc", "SEE SCHEDULE O")
        .with("WebsiteAddressTxt", "N/A")
        .with("FinalReturnInd", "X")
        .xml();
    let summary = import(world, &[("new.xml", &new), ("old.xml", &old)])
        .await
        .unwrap();
    assert_eq!(counts(&summary), [2, 0, 0, 0, 1]);
    let shown = profile(world, LIBRARY).await;
    assert_eq!(
        shown.description.as_deref(),
        Some("We lend books to everyone in Granite Town.")
    );
    assert_eq!(shown.website_url.as_deref(), Some("https://granite.example.org"));
    assert_eq!(
        (
            shown.description_period,
            shown.website_period,
            shown.amounts_period
        ),
        (Some(202_112), Some(202_112), Some(202_212))
    );
    assert_eq!(
        (shown.formed, shown.revenue, shown.is_final),
        (Some(1901), Some(2), true)
    );
}

async fn many_changes_need_a_new_snapshot_and_few_do_not(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(3))).await.unwrap();
    let snapshots = world.snapshots();
    let bundle = |eins: std::ops::Range<u32>, revenue: i64| {
        let returns: Vec<(String, String)> = eins
            .map(|ein| {
                let filed = filed_return(&ein.to_string(), "2022-12-31").revenue(revenue);
                (format!("{ein}.xml"), filed.xml())
            })
            .collect();
        let members: Vec<(&str, &[u8])> = returns
            .iter()
            .map(|(name, xml)| (name.as_str(), xml.as_bytes()))
            .collect();
        world.file("returns.zip", zip(&members))
    };
    let importer = Importer {
        overlay_limit: 2,
        ..world.app.importer()
    };
    // The last two are not in the directory.
    let file = bundle(100_000_002..100_000_006, 1);
    let few = importer.import_returns(&[file]).await.unwrap();
    assert_eq!(counts(&few), [4, 0, 0, 0, 2]);
    let changes = async |revision: i64| {
        let all = world
            .texts("select cast(revision as text) from directory_changes")
            .await;
        all.iter().filter(|text| **text == revision.to_string()).count()
    };
    assert_eq!(changes(few.revision).await, 2);
    let file = bundle(100_000_001..100_000_006, 2);
    let many = importer.import_returns(&[file]).await.unwrap();
    assert_eq!(counts(&many), [1, 4, 0, 0, 3]);
    assert_eq!(
        (changes(few.revision).await, changes(many.revision).await),
        (0, 0)
    );
    world.app.refresh_directory().await.unwrap();
    assert_ne!(world.snapshots(), snapshots, "a new snapshot was built");
}

#[test]
fn the_command_prints_its_counts() {
    let cli = Cli::new();
    cli.write("eo.csv", bmf(&[nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY")]));
    cli.run(0, &["import", "irs", "eo.csv"]);
    let good = library("2022-12-31").revenue(1).xml();
    let other = library("2022-12-31").xml_of("990T", "IRS990T");
    cli.write(
        "bundle.zip",
        zip(&[
            ("good.xml", good.as_bytes()),
            ("other.xml", other.as_bytes()),
            ("bad.xml", b"<html>"),
        ]),
    );
    cli.write("single.xml", library("2021-12-31").revenue(2).xml());
    let stdout = cli.run(0, &["import", "990", "bundle.zip", "single.xml"]).stdout;
    let expected =
        "4 returns read: 2 new, 0 changed, 0 unchanged, 1 of other forms, 1 refused; 1 nonprofits changed; ";
    assert!(stdout.starts_with(expected), "{stdout}");
    assert!(
        stdout.contains("\n  the refused returns are listed in "),
        "{stdout}"
    );
    let json = cli.json(&["import", "990", "bundle.zip", "single.xml"]);
    assert_eq!(
        [
            "lines",
            "new",
            "changed",
            "unchanged",
            "otherForms",
            "outdated",
            "refused",
            "nonprofitsChanged"
        ]
        .map(|field| json[field].as_u64().unwrap()),
        [4, 0, 0, 2, 1, 0, 1, 0],
        "{json}"
    );
    assert_eq!(json["files"][0]["lines"], 3);
    assert!(
        cli.fail(&["import", "990", "missing.zip"])
            .contains("missing.zip")
    );
    cli.write("bad.xml", "<html>");
    assert!(cli.fail(&["import", "990", "bad.xml"]).contains("bad.xml"));
}
