//! Rows damaged by the tools that processed them.

use crate::files::{bmf, nonprofit_row, nonprofit_rows};
use crate::world::World;

on_both_databases!(
    latin_1_bytes_are_decoded,
    placeholders_and_decimal_numbers_are_understood,
    an_ein_without_its_leading_zeros_is_the_same_nonprofit,
    a_line_of_three_megabytes_is_one_refused_row,
    an_unclosed_quote_affects_only_its_row,
    special_characters_are_stored_unchanged_in_both_databases,
    columns_may_be_in_any_order,
);

async fn latin_1_bytes_are_decoded(world: &World) {
    let file = bmf(&[nonprofit_row("020240384", "NI~O")]).into_bytes();
    let file: Vec<u8> = file
        .into_iter()
        .map(|byte| if byte == b'~' { 0xD1 } else { byte })
        .collect();
    let summary = world.import_irs(file).await.unwrap();
    assert_eq!((summary.new, summary.refused), (1, 0));
    let name = world.client.details(200, "020240384").await.nonprofit()["name"]
        .as_str()
        .unwrap()
        .to_lowercase();
    assert_eq!(name, "niño");
    assert_eq!(
        world.client.details(200, "nino").await.nonprofit()["ein"],
        "020240384"
    );
}

async fn placeholders_and_decimal_numbers_are_understood(world: &World) {
    let row = nonprofit_row("020240383", "GRANITE TOWN LIBRARY")
        .with("SUBSECTION", "3.0")
        .with("DEDUCTIBILITY", "1.0")
        .with("RULING", "199405.0")
        .with("NTEE_CD", "NA")
        .with("SORT_NAME", "NA")
        .with("ASSET_AMT", "NA")
        .with("INCOME_AMT", "N/A")
        .with("REVENUE_AMT", "2e+05")
        .with("ZIP", "3301");
    assert_eq!(world.import_irs(bmf(&[row])).await.unwrap().new, 1);
    let response = world.client.details(200, "020240383").await;
    let nonprofit = response.nonprofit();
    assert_eq!(nonprofit["isDisbursable"], true);
    assert!(nonprofit.get("nteeCode").is_none());
    assert!(nonprofit["description"].as_str().unwrap().contains("1994"));
    let filed = world.texts("select filed from nonprofits").await.concat();
    assert!(
        filed.starts_with("GRANITE TOWN LIBRARY\t\tCONCORD\tNH\t03301\t\t"),
        "{filed}"
    );
}

async fn an_ein_without_its_leading_zeros_is_the_same_nonprofit(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
    for ein in ["20240383", "20240383.0", "02-0240383", " 020240383 "] {
        let summary = world
            .import_irs(bmf(&[nonprofit_row(ein, "GRANITE TOWN LIBRARY")]))
            .await
            .unwrap();
        assert_eq!((summary.unchanged, summary.total_changes()), (1, 0), "{ein}");
    }
    assert_eq!(
        world.client.details(200, "020240383").await.nonprofit()["ein"],
        "020240383"
    );
}

async fn a_line_of_three_megabytes_is_one_refused_row(world: &World) {
    let mut rows = nonprofit_rows(300);
    rows.insert(10, nonprofit_row("020240383", &"LONG ".repeat(600_000)));
    let summary = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!((summary.new, summary.refused), (300, 1));
    let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
    assert!(
        report.ends_with("line 12: the line is longer than 65536 bytes\n"),
        "{report:.300}"
    );
    assert!(report.len() < 500);
}

async fn an_unclosed_quote_affects_only_its_row(world: &World) {
    let mut rows = nonprofit_rows(300);
    rows[3] = rows[3].clone().with("NAME", "\"THE OPEN QUOTE");
    rows[4] = rows[4]
        .clone()
        .with("NAME", "\"SMITH, JONES AND \"\"FRIENDS\"\"\"");
    let summary = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!((summary.new, summary.refused), (299, 1));
    let name = world.client.details(200, "100000005").await.nonprofit()["name"].clone();
    assert_eq!(name, "Smith, Jones and \"Friends\"");
}

async fn special_characters_are_stored_unchanged_in_both_databases(world: &World) {
    let rows = [
        nonprofit_row("020240383", "BACK\\SLASH \\N $1 'QUOTE'").with("CITY", "TAB\\tTOWN"),
        nonprofit_row("020240384", "\u{1F600} SMILE \u{202E}HOUSE"),
        nonprofit_row("020240385", "NUL\u{0}BYTE"),
    ];
    let summary = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(summary.new + summary.refused, 3);
    let filed = world.texts("select filed from nonprofits order by ein").await;
    assert!(
        filed[0].starts_with("BACK\\SLASH \\N $1 'QUOTE'\t\tTAB\\tTOWN\t"),
        "{filed:?}"
    );
    assert!(
        filed[1].starts_with("\u{1F600} SMILE \u{202E}HOUSE\t"),
        "{filed:?}"
    );
    assert!(filed[2].starts_with("NULBYTE\t"), "{filed:?}");
}

async fn columns_may_be_in_any_order(world: &World) {
    let file = bmf(&nonprofit_rows(5));
    let turned: String = file
        .lines()
        .map(|line| {
            let mut columns: Vec<&str> = line.split(',').collect();
            columns.reverse();
            columns.join(",") + "\n"
        })
        .collect();
    world.import_irs(&file).await.unwrap();
    assert_eq!(world.import_irs(&turned).await.unwrap().unchanged, 5);
}
