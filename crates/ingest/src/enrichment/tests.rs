use super::*;
use proptest::prelude::*;

fn parse(line: &str) -> Result<Enrichment, String> {
    Enrichment::parse(line.as_bytes())
}

fn read(bytes: &[u8]) -> Result<Vec<Result<u64, RejectedLine>>, EnrichmentError> {
    let mut reader = EnrichmentReader::new(bytes, "more.jsonl");
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        entries.push(entry.map(|_| reader.line()));
    }
    Ok(entries)
}

#[test]
fn missing_fields_nulls_and_values_are_distinguished() {
    let entry =
        parse(r#"{"ein":"020240383","description":null,"websiteUrl":"https://example.org","city":" "}"#)
            .unwrap();
    assert_eq!(entry.ein.unwrap().to_string(), "020240383");
    assert_eq!(entry.name, None);
    assert_eq!(entry.description_long, Change::Keep);
    assert_eq!(entry.description, Change::Clear);
    assert_eq!(entry.city, Change::Clear);
    assert_eq!(entry.website_url, Change::Set("https://example.org".to_owned()));
}

#[test]
fn every_field_is_read() {
    let entry = parse(
        r#"{"id":"6f0e5a4e-2f1b-4c8e-9a53-0d6d1f0f7a11","ein":20240383,"name":"Granite","legal_name":"GRANITE INC",
            "aliases":["G","G",""],"description":"a","descriptionLong":"b\n\nc","causes":["Libraries"],"nteeCode":"b70",
            "city":"Concord","state":"nh","zip":3301,"country":"US","subsection":"03","ruling":"1994-05","deductible":true,
            "revenue":-5,"assets":1e6,"logo":"https://example.org/l.png","cover":"data:image/png;base64,AAAA","x":[{}],
            "donate_url":"https://example.org/give?amount={amount}","stripeAccount":"acct_1Ab"}"#
            .replace('\n', " ")
            .as_str(),
    )
    .unwrap();
    let set = |text: &str| Change::Set(text.to_owned());
    assert_eq!(
        entry,
        Enrichment {
            ein: Ein::parse("020240383"),
            id: Uuid::try_parse("6f0e5a4e-2f1b-4c8e-9a53-0d6d1f0f7a11").ok(),
            name: Some("Granite".to_owned()),
            legal_name: set("GRANITE INC"),
            aliases: Change::Set(vec!["G".to_owned()]),
            description: set("a"),
            description_long: set("b\n\nc"),
            website_url: Change::Keep,
            donate_url: set("https://example.org/give?amount={amount}"),
            stripe_account: set("acct_1Ab"),
            causes: Change::Set(vec!["libraries".to_owned()]),
            ntee_code: set("B70"),
            city: set("Concord"),
            state: set("NH"),
            zip: set("03301"),
            country: set("US"),
            subsection: Change::Set(3),
            ruling: Change::Set(199_405),
            deductible: Change::Set(true),
            revenue: Change::Set(-5),
            assets: Change::Set(1_000_000),
            logo: set("https://example.org/l.png"),
            cover: set("data:image/png;base64,AAAA"),
        }
    );
}

#[test]
fn a_field_can_be_spelled_in_several_ways() {
    for name in [
        "website",
        "websiteUrl",
        "website_url",
        "WebsiteURL",
        "url",
        "homepage",
    ] {
        let entry = parse(&format!(r#"{{"ein":"1","{name}":"https://example.org"}}"#)).unwrap();
        assert_eq!(
            entry.website_url,
            Change::Set("https://example.org".to_owned()),
            "{name}"
        );
    }
    for name in ["tags", "causes", "nonprofitTags"] {
        let entry = parse(&format!(r#"{{"ein":"1","{name}":["art"]}}"#)).unwrap();
        assert_eq!(entry.causes, Change::Set(vec!["art".to_owned()]), "{name}");
    }
    let reason = parse(r#"{"ein":"1","website":"https://a.org","website_url":"https://b.org"}"#).unwrap_err();
    assert_eq!(reason, "websiteUrl and website have different values");
}

#[test]
fn all_errors_of_a_line_are_reported_together() {
    let long = "x".repeat(501);
    let reason = parse(&format!(
        r#"{{"ein":"12-34","name":null,"description":"{long}","website":"javascript:alert(1)","state":"New York",
            "deductible":"yes","aliases":"one","ruling":199413,"logo":"file:///etc/passwd"}}"#
    ))
    .unwrap_err();
    assert_eq!(
        reason.split("; ").collect::<Vec<_>>(),
        [
            "ein must be nine digits",
            "name cannot be empty (leave it out to keep the current name)",
            "aliases must be a list of strings or null",
            "description is longer than 500 characters",
            "websiteUrl must be a URL that starts with http:// or https://",
            "state must be two letters, such as NY",
            "ruling must be a month as YYYYMM",
            "deductible must be true, false or null",
            "logo must be a web URL, or a data URL of a PNG, JPEG or WebP picture of at most 10 MiB",
        ]
    );
}

#[test]
fn lengths_are_counted_in_characters_and_lists_in_entries() {
    assert!(parse(&format!(r#"{{"ein":"1","name":"{}"}}"#, "é".repeat(200))).is_ok());
    assert!(parse(&format!(r#"{{"ein":"1","name":"{}"}}"#, "é".repeat(201))).is_err());
    assert!(
        parse(&format!(
            r#"{{"ein":"1","descriptionLong":"{}"}}"#,
            "é".repeat(20_000)
        ))
        .is_ok()
    );
    assert!(
        parse(&format!(
            r#"{{"ein":"1","descriptionLong":"{}"}}"#,
            "é".repeat(20_001)
        ))
        .is_err()
    );
    let many: Vec<String> = (0..21).map(|n| format!("\"{n}\"")).collect();
    let reason = parse(&format!(r#"{{"ein":"1","aliases":[{}]}}"#, many.join(","))).unwrap_err();
    assert_eq!(reason, "aliases has more than 20 entries");
}

#[test]
fn control_characters_are_removed() {
    let entry = parse(r#"{"ein":"1","name":"A\u0000B\tC\u001b","descriptionLong":"x\r\ny\u0007"}"#).unwrap();
    assert_eq!(entry.name.unwrap(), "AB C");
    assert_eq!(entry.description_long, Change::Set("x\ny".to_owned()));
}

#[test]
fn a_line_must_identify_a_nonprofit() {
    let reason = parse(r#"{"name":"Granite"}"#).unwrap_err();
    assert_eq!(reason, "ein or id is required");
    assert!(parse(r#"{"ein":null,"id":"6f0e5a4e-2f1b-4c8e-9a53-0d6d1f0f7a11"}"#).is_ok());
}

#[test]
fn invalid_lines_are_rejected_with_their_number_and_reading_continues() {
    let entries =
        read(b"\xEF\xBB\xBF{\"ein\":\"1\"}\r\n\nhello\n[1]\n{\"ein\":\"2\",}\n\"\xff\"\n{\"ein\":\"3\"}")
            .unwrap();
    let seen: Vec<String> = entries
        .into_iter()
        .map(|entry| entry.map_or_else(|rejected| rejected.to_string(), |line| format!("line {line}")))
        .collect();
    assert_eq!(
        seen,
        [
            "line 1",
            "line 3: the line is not JSON (column 1)",
            "line 4: the line is not a JSON object",
            "line 5: the line is not JSON (column 12)",
            "line 6: the line is not JSON (column 2)",
            "line 7",
        ]
    );
}

#[test]
fn a_truncated_file_and_an_array_are_errors() {
    let truncated = read(b"{\"ein\":\"1\"}\n{\"ein\":\"2\",\"na")
        .unwrap_err()
        .to_string();
    assert_eq!(
        truncated,
        "more.jsonl is truncated in line 2; copy the file again"
    );
    let array = read(b"[\n{\"ein\":\"1\"}\n]").unwrap_err().to_string();
    assert_eq!(
        array,
        "more.jsonl is a JSON array; put each object on its own line"
    );
}

#[test]
fn deeply_nested_brackets_are_rejected() {
    assert!(parse(&format!(r#"{{"ein":"1","x":{}"#, "[".repeat(100_000))).is_err());
}

proptest! {
    #[test]
    fn reading_a_line_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), text in "\\PC{0,60}") {
        let _ = read(&bytes);
        for name in ["ein", "id", "name", "aliases", "websiteUrl", "zip", "ruling", "assets", "logo"] {
            let _ = parse(&serde_json::json!({ name: text, "id": "6f0e5a4e-2f1b-4c8e-9a53-0d6d1f0f7a11" }).to_string());
        }
    }
}
