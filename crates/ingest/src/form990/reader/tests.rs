use super::*;
use crate::files::hashing_reader::HashingReader;
use crate::form990::{texts, website};
use flate2::read::MultiGzDecoder;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/form990")
}

/// The folder with more returns than are in the repository, if there is one.
#[expect(
    clippy::disallowed_methods,
    reason = "a test, not the product, reads this variable"
)]
fn samples() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/efile");
    let named = std::env::var_os("CAUSEWAY_TEST_RETURNS").map(PathBuf::from);
    let found = named.or(Some(beside)).filter(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: the folder with samples is absent");
    }
    found
}

fn load(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut out = Vec::new();
    MultiGzDecoder::new(&bytes[..]).read_to_end(&mut out).unwrap();
    out
}

fn fixture(name: &str) -> String {
    String::from_utf8(load(&fixtures().join(name))).unwrap()
}

fn filed(bytes: &[u8]) -> FiledReturn {
    match read(bytes) {
        Ok(Document::Return(filed)) => *filed,
        other => panic!("{other:?}"),
    }
}

fn error(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

const SMALL: &str = "<Return returnVersion='2010v3.2'><ReturnHeader><ReturnType>990</ReturnType>\
    <TaxPeriodEndDate>2010-06-30</TaxPeriodEndDate><Filer><EIN>123456789</EIN></Filer></ReturnHeader>\
    <ReturnData><IRS990><TotalRevenueCurrentYear>-12</TotalRevenueCurrentYear>\
    <MissionDescription>A &amp; B &#8212; &lt;C&gt; <![CDATA[<D>]]></MissionDescription></IRS990></ReturnData></Return>";

#[test]
fn a_small_return_is_read() {
    let each = filed(SMALL.as_bytes());
    assert_eq!((each.ein.value(), each.period_end), (123_456_789, 201_006));
    assert_eq!(each.amounts.revenue, Some(-12));
    assert_eq!(each.amounts.expenses, None);
    assert_eq!(each.mission.as_deref(), Some("A & B — <C> <D>"));
    assert_eq!(each.version, "2010v3.2");
}

#[test]
fn officers_are_read_without_directors_employees_and_pay() {
    let person = |name: &str, title: &str, mark: &str| {
        format!(
            "<Form990PartVIISectionAGrp><PersonNm>{name}</PersonNm><TitleTxt>{title}</TitleTxt>{mark}\
             <ReportableCompFromOrgAmt>90000</ReportableCompFromOrgAmt></Form990PartVIISectionAGrp>"
        )
    };
    let people = [
        person("ADA LOVELACE", "PRESIDENT", "<OfficerInd>X</OfficerInd>"),
        person(
            "LISE MEITNER",
            "DIRECTOR",
            "<IndividualTrusteeOrDirectorInd>X</IndividualTrusteeOrDirectorInd>",
        ),
        person("", "VACANT", "<OfficerInd>X</OfficerInd>"),
        person("Emmy Noether", "CFO", "<OfficerInd>1</OfficerInd>"),
    ];
    let each = SMALL.replace("</IRS990>", &format!("{}</IRS990>", people.concat()));
    let officers = filed(each.as_bytes()).officers;
    let found: Vec<_> = officers
        .iter()
        .map(|officer| (officer.name.as_str(), officer.title.as_str()))
        .collect();
    assert_eq!(found, [("ADA LOVELACE", "PRESIDENT"), ("Emmy Noether", "CFO")]);
}

#[test]
fn what_stands_before_the_document_is_skipped() {
    let expected = filed(SMALL.as_bytes());
    for front in [
        "\u{feff}",
        // A byte order mark that was encoded twice.
        "\u{ef}\u{bb}\u{bf}",
        "---\n",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<!-- comment -->\r\n",
    ] {
        assert_eq!(filed(format!("{front}{SMALL}").as_bytes()), expected, "{front:?}");
    }
}

#[test]
fn prefixes_and_line_ends_do_not_matter() {
    let expected = filed(SMALL.as_bytes());
    let prefixed = SMALL
        .replace("</", "\u{1}")
        .replace("<!", "\u{2}")
        .replace('<', "<irs:");
    let prefixed = prefixed
        .replace('\u{1}', "</irs:")
        .replace('\u{2}', "<!")
        .replace("<irs:D>", "<D>");
    assert_eq!(filed(prefixed.as_bytes()), expected);
    let lines = SMALL.replace("><", ">\r\n\t<");
    assert_eq!(filed(lines.as_bytes()), expected);
}

#[test]
fn other_forms_are_recognized_and_not_read() {
    let other = SMALL.replace(">990<", ">990T<");
    assert_eq!(read(other.as_bytes()), Ok(Document::OtherForm("990T".to_owned())));
}

#[test]
fn a_return_without_what_identifies_it_is_refused() {
    for (removed, expected) in [
        ("<EIN>123456789</EIN>", "its EIN is missing or invalid"),
        (
            "<TaxPeriodEndDate>2010-06-30</TaxPeriodEndDate>",
            "its end of the tax period is missing or invalid",
        ),
        ("<ReturnType>990</ReturnType>", "its form is missing or invalid"),
    ] {
        assert_eq!(error(SMALL.replace(removed, "").as_bytes()), expected);
    }
}

#[test]
fn a_saved_web_page_is_no_return() {
    for page in [
        "<!DOCTYPE html><html><body>404 Not Found</body></html>",
        "<html><head></head></html>",
        "404",
        "",
    ] {
        let message = error(page.as_bytes());
        assert!(
            message.contains("not an e-file return") || message.contains("document type"),
            "{message}"
        );
    }
}

#[test]
fn entity_expansion_and_external_entities_are_refused() {
    let laughs = "<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;&lol;\">]>";
    let external = "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>";
    for declaration in [
        laughs,
        external,
        "<!DOCTYPE x SYSTEM \"http://example.org/x.dtd\">",
    ] {
        let bytes = format!("<?xml version=\"1.0\"?>{declaration}{SMALL}");
        assert_eq!(error(bytes.as_bytes()), "it has a document type declaration");
    }
    for reference in ["&lol2;", "&e;", "&#x110000;", "&#xD800;"] {
        let bytes = SMALL.replace("&amp;", reference);
        assert!(
            error(bytes.as_bytes()).starts_with("it refers to the unknown entity "),
            "{reference}"
        );
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("<Return>{}", "<a>".repeat(100_000));
    assert_eq!(
        error(deep.as_bytes()),
        "its elements are nested more than 64 deep"
    );
}

#[test]
fn other_encodings_are_refused() {
    let declared = format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{SMALL}");
    assert_eq!(
        error(declared.as_bytes()),
        "its encoding is ISO-8859-1, not UTF-8"
    );
    for mark in [0xfeff_u16.to_le_bytes(), 0xfeff_u16.to_be_bytes()] {
        let mut wide = mark.to_vec();
        wide.extend(SMALL.encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(error(&wide), "its encoding is UTF-16, not UTF-8");
    }
    let unmarked: Vec<u8> = SMALL.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(read(&unmarked).is_err());
    let mut invalid = SMALL.as_bytes().to_vec();
    let at = memchr::memmem::find(&invalid, b"A &amp;").unwrap();
    invalid[at] = 0xff;
    assert_eq!(error(&invalid), "it is not valid UTF-8");
}

#[test]
fn a_truncated_return_is_refused_at_every_length() {
    for end in 0..SMALL.len() {
        assert!(read(&SMALL.as_bytes()[..end]).is_err(), "{end}");
    }
    let whole = fixture("made_990EZ_2012v2.1.xml.gz");
    let end = whole.rfind("</Return").unwrap();
    for at in (1..end).step_by(997) {
        assert!(
            read(&whole.as_bytes()[..whole.floor_char_boundary(at)]).is_err(),
            "{at}"
        );
    }
}

#[test]
fn too_many_attributes_and_too_large_files_are_no_problem() {
    let mut attributes = String::new();
    for number in 0..200_000 {
        let _ = write!(attributes, " a{number}=\"\"");
    }
    let each = filed(
        SMALL
            .replacen("<Return ", &format!("<Return{attributes} "), 1)
            .as_bytes(),
    );
    assert_eq!(each.version, "", "the attribute comes too late");
    assert!(read(format!("<Return{attributes}").as_bytes()).is_err());
    assert_eq!(error(&vec![b'<'; MAX_BYTES + 1]), "it is larger than 32 MiB");
    assert!(read(&vec![b'<'; 1 << 20]).is_err());
}

#[test]
fn long_texts_and_repetitions_are_bounded() {
    let text = "é".repeat(MAX_TEXT_LEN);
    let long = SMALL.replace("A &amp; B", &text);
    assert_eq!(filed(long.as_bytes()).mission.unwrap().len(), MAX_TEXT_LEN);
    let program =
        "<ActivityOther><Description>X</Description><Expense>5</Expense></ActivityOther>".repeat(500);
    let many = SMALL.replace("<IRS990>", &format!("<IRS990>{program}"));
    let programs = filed(many.as_bytes()).programs;
    assert_eq!(programs.len(), MAX_REPETITIONS);
    assert!(
        programs
            .iter()
            .all(|program| program.text == "X" && program.expenses == Some(5))
    );
}

/// A text as it is in the cases: its start, its length and its hash.
fn digest(text: &str) -> Value {
    let mut reader = HashingReader::new(text.as_bytes(), Arc::default());
    std::io::copy(&mut reader, &mut std::io::sink()).unwrap();
    let start: String = text.chars().take(60).collect();
    json!({ "start": start, "chars": text.chars().count(), "sha256": reader.sha256() })
}

fn facts(each: &FiledReturn) -> Value {
    let amounts = &each.amounts;
    let programs: Vec<Value> = each
        .programs
        .iter()
        .map(|program| {
            json!({
                "text": digest(&program.text),
                "expenses": program.expenses,
                "grants": program.grants,
                "revenue": program.revenue,
            })
        })
        .collect();
    let explanations: Vec<Value> = each
        .explanations
        .iter()
        .map(|entry| {
            json!({ "reference": entry.reference, "title": entry.title, "text": digest(&entry.text) })
        })
        .collect();
    json!({
        "form": each.form.name().replace('-', ""),
        "version": each.version,
        "ein": format!("{:09}", each.ein.value()),
        "periodBegin": each.period_begin,
        "periodEnd": each.period_end,
        "filedAt": each.filed_at,
        "name": each.name,
        "tradeName": each.trade_name,
        "website": each.website,
        "summary": each.summary,
        "mission": each.mission,
        "employees": each.employees,
        "volunteers": each.volunteers,
        "formed": each.formed,
        "isGroupReturn": each.is_group_return,
        "isAmended": each.is_amended,
        "isFinal": each.is_final,
        "amounts": {
            "grossReceipts": amounts.gross_receipts,
            "revenue": amounts.revenue,
            "contributions": amounts.contributions,
            "expenses": amounts.expenses,
            "programExpenses": amounts.program_expenses,
            "managementExpenses": amounts.management_expenses,
            "fundraisingExpenses": amounts.fundraising_expenses,
            "assets": amounts.assets,
            "liabilities": amounts.liabilities,
            "netAssets": amounts.net_assets,
        },
        "programs": programs,
        "explanations": explanations,
    })
}

#[test]
fn every_case_has_the_facts_that_its_xml_states() {
    let table: Value =
        serde_json::from_slice(&std::fs::read(fixtures().join("cases.json")).unwrap()).unwrap();
    let cases = table["cases"].as_array().unwrap();
    assert!(cases.len() >= 40);
    let samples = samples();
    let mut checked = 0;
    for case in cases {
        let mut expected = case.as_object().unwrap().clone();
        let file = expected.remove("file").unwrap();
        let file = file.as_str().unwrap();
        let paths = [
            Some(fixtures().join(file)),
            samples.as_ref().map(|folder| folder.join("xml").join(file)),
        ];
        let Some(path) = paths.into_iter().flatten().find(|path| path.exists()) else {
            continue;
        };
        let actual = facts(&filed(&load(&path)));
        for (fact, expected) in &expected {
            assert_eq!(&actual[fact], expected, "{file}: {fact}");
        }
        assert_eq!(actual.as_object().unwrap().len(), expected.len(), "{file}");
        checked += 1;
    }
    assert!(checked >= 13, "the returns in the repository are always checked");
}

/// The names of the facts that a return states.
fn stated(each: &FiledReturn) -> BTreeSet<&'static str> {
    let amounts = &each.amounts;
    [
        ("name", each.name.is_some()),
        ("trade name", each.trade_name.is_some()),
        (
            "website",
            each.website.as_deref().and_then(website::website).is_some(),
        ),
        ("description", texts::description(each).is_some()),
        ("programs", !each.programs.is_empty()),
        ("gross receipts", amounts.gross_receipts.is_some()),
        ("revenue", amounts.revenue.is_some()),
        ("contributions", amounts.contributions.is_some()),
        ("expenses", amounts.expenses.is_some()),
        ("program expenses", amounts.program_expenses.is_some()),
        ("management", amounts.management_expenses.is_some()),
        ("fundraising", amounts.fundraising_expenses.is_some()),
        ("assets", amounts.assets.is_some()),
        ("liabilities", amounts.liabilities.is_some()),
        ("net assets", amounts.net_assets.is_some()),
        ("employees", each.employees.is_some()),
        ("volunteers", each.volunteers.is_some()),
        ("formed", each.formed.is_some()),
        ("amended", each.is_amended),
        ("final", each.is_final),
    ]
    .into_iter()
    .filter_map(|(fact, is_stated)| is_stated.then_some(fact))
    .collect()
}

/// How many returns there are, and how many of them state each fact.
type Found = (u32, BTreeMap<&'static str, u32>);

/// Reads all samples. With `--nocapture`, prints which facts were found, and the texts as they will be shown.
#[test]
fn every_sample_is_read() {
    let Some(folder) = samples() else { return };
    let mut paths: Vec<PathBuf> = ["xml", "made"]
        .iter()
        .flat_map(|part| std::fs::read_dir(folder.join(part)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".xml"))
        .collect();
    paths.sort();
    let mut found: BTreeMap<(String, String), Found> = BTreeMap::new();
    let mut others = 0;
    for path in &paths {
        match read(&load(path)) {
            Ok(Document::Return(each)) => {
                let row = found
                    .entry((each.form.name().to_owned(), each.version.clone()))
                    .or_default();
                row.0 += 1;
                for fact in stated(&each) {
                    *row.1.entry(fact).or_default() += 1;
                }
                if let Some(text) = texts::description(&each) {
                    println!(
                        "SHORT {} | {}",
                        each.name.as_deref().unwrap_or_default(),
                        text.short
                    );
                    println!("LONG {}", text.long.unwrap_or_default());
                }
                for program in &each.programs {
                    println!(
                        "PROGRAM {}",
                        texts::program_text(&program.text, &each).unwrap_or_default()
                    );
                }
                let filed = each.website.as_deref().unwrap_or_default();
                println!(
                    "WEBSITE {filed} | {}",
                    website::website(filed).unwrap_or_default()
                );
                println!("NAME {:?} | {:?}", each.name, texts::display_name(&each));
            }
            Ok(Document::OtherForm(form)) => {
                assert_eq!(form, "990T");
                others += 1;
            }
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
    assert!(paths.len() >= 186 && others == 6);
    for ((form, version), (count, facts)) in &found {
        print!("TABLE {form} {version} {count}:");
        for (fact, found) in facts {
            print!(" {fact}={found}");
        }
        println!();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn damaged_returns_are_read_or_refused(at in any::<usize>(), bytes in proptest::collection::vec(any::<u8>(), 0..8), cut in 0..64_usize) {
        let mut damaged = SMALL.as_bytes().to_vec();
        let at = at % damaged.len();
        let end = (at + cut).min(damaged.len());
        damaged.splice(at..end, bytes);
        if let Ok(Document::Return(each)) = read(&damaged) {
            let _ = texts::description(&each);
            let _ = each.website.as_deref().map(website::website);
        }
    }
}

/// The same as the fuzz target, for a bounded number of mutations of real returns.
#[test]
fn mutated_returns_are_read_or_refused() {
    let seeds: Vec<Vec<u8>> = [
        "made_990EZ_2012v2.1.xml.gz",
        "made_990PF_2011v1.5.xml.gz",
        "made_990EZ_2013v3.0.xml.gz",
    ]
    .iter()
    .map(|name| load(&fixtures().join(name)))
    .collect();
    let pieces: [&[u8]; 12] = [
        b"<",
        b">",
        b"</",
        b"&",
        b";",
        b"\"",
        b"<![CDATA[",
        b"<!--",
        b"<?xml",
        b"\xff",
        b"</Return>",
        b"<Return>",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for round in 0..600 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..=next(6) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes[at] = next(256) as u8,
                1 => {
                    let end = (at + next(400)).min(bytes.len());
                    bytes.drain(at..end);
                }
                2 => {
                    let piece = pieces[next(pieces.len())];
                    bytes.splice(at..at, piece.iter().copied());
                }
                _ => {
                    let end = (at + next(2_000)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    let to = next(bytes.len());
                    bytes.splice(to..to, copy);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'<');
            }
        }
        let Ok(()) = read_all(&bytes, |document| {
            if let Ok(Document::Return(each)) = document {
                let _ = texts::description(&each);
                for program in &each.programs {
                    let _ = texts::program_text(&program.text, &each);
                }
                let _ = each.website.as_deref().map(website::website);
            }
            Ok::<(), std::convert::Infallible>(())
        });
    }
}
