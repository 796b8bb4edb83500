use super::*;
use proptest::prelude::*;

fn header() -> String {
    HEADER.join(",") + "\r\n"
}

/// Returns a valid row with some columns replaced.
fn row(changes: &[(usize, &str)]) -> String {
    let mut fields = [
        "020240383",
        "GRANITE TOWN LIBRARY",
        "% JANE ROE",
        "1 MAIN ST",
        "CONCORD",
        "NH",
        "03301-1234",
        "0000",
        "03",
        "3",
        "1000",
        "199405",
        "1",
        "15",
        "000000000",
        "1",
        "01",
        "202412",
        "4",
        "4",
        "01",
        "0",
        "12",
        "125000",
        "64000",
        "-1500",
        "B70",
        "FRIENDS OF THE LIBRARY",
    ];
    for (column, value) in changes {
        fields[*column] = value;
    }
    fields.join(",") + "\r\n"
}

/// Reads all rows as text.
fn read(bytes: &[u8]) -> Result<Vec<Result<String, RejectedLine>>, BmfError> {
    let mut reader = BmfReader::open(bytes, "eo.csv")?;
    let mut rows = Vec::new();
    while let Some(row) = reader.next_row()? {
        rows.push(row.map(|row| {
            let Filing {
                name,
                chapter,
                city,
                state,
                zip,
                ntee,
                ..
            } = row.filing;
            format!("{}|{name}|{chapter}|{city}|{state}|{zip}|{ntee}", row.ein)
        }));
    }
    Ok(rows)
}

fn facts(row: &str) -> IrsFacts {
    let file = header() + row;
    let mut reader = BmfReader::open(file.as_bytes(), "eo.csv").unwrap();
    reader.next_row().unwrap().unwrap().unwrap().filing.facts.unwrap()
}

fn reason(changes: &[(usize, &str)]) -> String {
    let mut rows = read((header() + &row(changes)).as_bytes()).unwrap();
    let rejected = rows.remove(0).unwrap_err();
    assert_eq!(rejected.line, 2);
    rejected.reason
}

const GOOD: &str = "020240383|GRANITE TOWN LIBRARY|FRIENDS OF THE LIBRARY|CONCORD|NH|03301|B70";

#[test]
fn a_row_is_read_with_its_facts() {
    assert_eq!(
        read((header() + &row(&[])).as_bytes()).unwrap(),
        [Ok(GOOD.to_owned())]
    );
    assert_eq!(
        facts(&row(&[])),
        IrsFacts {
            subsection: 3,
            deductibility: 1,
            foundation: 15,
            status: 1,
            affiliation: 3,
            group: 0,
            ruling: 199_405,
            tax_period: 202_412,
            assets: Some(125_000),
            income: Some(64_000),
            revenue: Some(-1500),
        }
    );
}

#[test]
fn columns_may_have_any_order_and_letter_case_and_there_may_be_others() {
    let mut names: Vec<String> = HEADER
        .iter()
        .map(|name| format!("\"{}\"", name.to_lowercase()))
        .collect();
    names.reverse();
    names.push("REGION".to_owned());
    let line = row(&[]);
    let mut fields: Vec<&str> = line.trim_end().split(',').collect();
    fields.reverse();
    fields.push("1");
    let file = format!("\u{FEFF}{}\n{}\n", names.join(","), fields.join(","));
    assert_eq!(read(file.as_bytes()).unwrap(), [Ok(GOOD.to_owned())]);
}

#[test]
fn the_error_for_a_wrong_header_names_the_first_missing_column() {
    let file = header().replace("SUBSECTION", "SUB").replace("NTEE_CD", "NTEE") + &row(&[]);
    let error = read(file.as_bytes()).unwrap_err().to_string();
    assert!(
        error.starts_with("eo.csv is not an EO BMF file: the header on line 1 has no column SUBSECTION;"),
        "{error}"
    );
    let error = read(b"<!DOCTYPE html>\n<html>").unwrap_err().to_string();
    assert!(error.contains("no column EIN"), "{error}");
    let error = read(header().replace("ICO", "EIN").as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("column EIN twice"), "{error}");
    let endless = vec![b'x'; 1 << 20];
    assert!(read(&endless).unwrap_err().to_string().contains("no column EIN"));
}

#[test]
fn an_empty_file_has_no_header() {
    for empty in [&b""[..], b"\r\n\r\n"] {
        assert_eq!(
            read(empty).unwrap_err().to_string(),
            "eo.csv has no header line; download the file again"
        );
    }
}

#[test]
fn a_file_truncated_within_a_line_is_rejected() {
    let whole = header() + &row(&[]) + &row(&[(EIN, "020240384")]);
    // Up to the last comma the row has too few columns. After it only the last field is shorter.
    let last_comma = whole.rfind(',').unwrap();
    let second = whole.len() - row(&[]).len();
    for end in second + 1..=last_comma {
        let error = read(&whole.as_bytes()[..end]).unwrap_err().to_string();
        assert_eq!(
            error, "eo.csv is truncated in line 3; download the file again",
            "{end}"
        );
    }
    let quoted = header()
        + row(&[(SORT_NAME, "\"SMITH, J\"")])
            .trim_end()
            .trim_end_matches('"');
    assert!(matches!(
        read(quoted.as_bytes()),
        Err(BmfError::Truncated { line: 2, .. })
    ));
    assert!(matches!(
        read((header() + &"9".repeat(1 << 20)).as_bytes()),
        Err(BmfError::Truncated { line: 2, .. })
    ));
}

#[test]
fn the_last_line_may_have_no_line_ending() {
    let file = header() + &row(&[]);
    assert_eq!(read(file.trim_end().as_bytes()).unwrap(), [Ok(GOOD.to_owned())]);
}

#[test]
fn lf_line_endings_blank_lines_and_quotes_are_accepted() {
    let quoted = row(&[(NAME, "\"SMITH, JONES & \"\"CO\"\"\"")]);
    let file = (header() + "\r\n" + &quoted + "   \r\n\r\n" + &row(&[])).replace('\r', "");
    let rows = read(file.as_bytes()).unwrap();
    assert!(rows[0].as_ref().unwrap().contains("|SMITH, JONES & \"CO\"|"));
    assert_eq!(rows.len(), 2);
}

#[test]
fn placeholders_for_missing_values_are_blanks() {
    let line = row(&[
        (EIN, "20240383"),
        (CITY, "NA"),
        (STATE, "nh"),
        (ZIP, "3301"),
        (GROUP, "0.0"),
        (SUBSECTION, "3.0"),
        (AFFILIATION, "NA"),
        (RULING, "NA"),
        (FOUNDATION, ""),
        (TAX_PERIOD, "202412.0"),
        (ASSET_AMT, "1e+05"),
        (INCOME_AMT, "NaN"),
        (REVENUE_AMT, "NA"),
        (NTEE_CD, "na"),
        (SORT_NAME, "NA"),
    ]);
    assert_eq!(
        read((header() + &line).as_bytes()).unwrap(),
        [Ok("020240383|GRANITE TOWN LIBRARY|||NH|03301|".into())]
    );
    let read = facts(&line);
    assert_eq!(
        (read.subsection, read.affiliation, read.ruling, read.tax_period),
        (3, 0, 0, 202_412)
    );
    assert_eq!(
        (read.assets, read.income, read.revenue),
        (Some(100_000), None, None)
    );
}

#[test]
fn latin_1_bytes_are_read_as_latin_1() {
    let mut file = (header() + &row(&[(NAME, "CASA PEÑA")])).into_bytes();
    let at = file.windows(2).position(|pair| pair == "Ñ".as_bytes()).unwrap();
    file.splice(at..at + 2, [0xD1]);
    assert!(read(&file).unwrap()[0].as_ref().unwrap().contains("|CASA PEÑA|"));
}

#[test]
fn foreign_rows_have_no_state_and_no_zip() {
    let file = header() + &row(&[(CITY, "CANADA"), (STATE, ""), (ZIP, "00000-0000")]);
    assert_eq!(
        read(file.as_bytes()).unwrap(),
        [Ok(GOOD.replace("CONCORD|NH|03301", "CANADA||"))]
    );
}

#[test]
fn invalid_rows_are_rejected_with_a_reason_that_contains_no_value() {
    let long = "N".repeat(201);
    for (changes, expected) in [
        ([(EIN, "")], "EIN is missing"),
        ([(EIN, "NA")], "EIN is missing"),
        ([(EIN, "000000000")], "EIN is not a number from 1 to 999999999"),
        ([(EIN, "JANE ROE")], "EIN is not a number from 1 to 999999999"),
        ([(EIN, "1234567890")], "EIN is not a number from 1 to 999999999"),
        ([(NAME, "  ")], "NAME is empty"),
        ([(NAME, &long)], "NAME is longer than 200 characters"),
        (
            [(NAME, "SMITH, INC")],
            "the number of columns is 29, but the header has 28",
        ),
        ([(NAME, "\"OPEN")], "a quote is not closed"),
        ([(STATE, "N.H.")], "STATE is not two letters"),
        (
            [(SUBSECTION, "JANE")],
            "SUBSECTION is not a valid number for this column",
        ),
        (
            [(FOUNDATION, "150")],
            "FOUNDATION is not a valid number for this column",
        ),
        (
            [(ASSET_AMT, "$5")],
            "ASSET_AMT is not a valid number for this column",
        ),
    ] {
        assert_eq!(reason(&changes), expected);
    }
}

#[test]
fn impossible_amounts_and_months_are_unknown_and_the_row_is_kept() {
    let read = facts(&row(&[
        (ASSET_AMT, "99999999999999999999"),
        (RULING, "199413"),
        (TAX_PERIOD, "000000"),
    ]));
    assert_eq!((read.assets, read.ruling, read.tax_period), (None, 0, 0));
}

#[test]
fn a_very_long_line_affects_one_row() {
    let file = header() + &row(&[(NAME, &"X".repeat(1 << 20))]) + &row(&[]);
    let rows = read(file.as_bytes()).unwrap();
    assert_eq!(
        rows[0],
        Err(RejectedLine {
            line: 2,
            reason: "the line is longer than 65536 bytes".to_owned()
        })
    );
    assert_eq!(rows[1], Ok(GOOD.to_owned()));
}

proptest! {
    #[test]
    fn reading_arbitrary_bytes_never_panics(bytes in proptest::collection::vec(
        prop_oneof![Just(b','), Just(b'"'), Just(b'\n'), Just(b'\r'), any::<u8>()], 0..400)) {
        let _ = read(&bytes);
        let mut file = header().into_bytes();
        file.extend_from_slice(&bytes);
        let _ = read(&file);
    }

    #[test]
    fn a_damaged_row_does_not_affect_other_rows(at in 0..200_usize, byte in any::<u8>()) {
        let mut damaged = row(&[]).into_bytes();
        let at = at % (damaged.len() - 2);
        prop_assume!(byte != b'\n');
        damaged[at] = byte;
        let file = [header().into_bytes(), damaged, row(&[]).into_bytes()].concat();
        let rows = read(&file).unwrap();
        prop_assert_eq!(rows.last().unwrap(), &Ok(GOOD.to_owned()));
        prop_assert_eq!(rows.len(), 2);
    }
}
