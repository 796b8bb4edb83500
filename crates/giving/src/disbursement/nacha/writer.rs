//! Writes files for ACH payments.

use super::{BLOCK_SIZE, HASH_MODULUS, Header, Payment, RECORD_LENGTH};
use crate::disbursement::bank_account::{AccountKind, RoutingNumber};
use crate::disbursement::{AchSettings, DisburseError};
use jiff::Span;
use jiff::civil::{Date, Weekday};
use platform::text::fold;
use std::fmt::Write;

/// Credits only.
const CREDITS: &str = "220";

/// Refuses settings with which the bank cannot read a file.
pub(in crate::disbursement) fn admit_settings(settings: &AchSettings) -> Result<(), DisburseError> {
    let is_missing = |text: &str, max: usize| text.is_empty() || text.len() > max || !text.is_ascii();
    let settings = [
        (
            "disburse.ach.destination",
            RoutingNumber::parse(&settings.destination).is_err(),
        ),
        ("disburse.ach.origin", is_missing(&settings.origin, 10)),
        ("disburse.ach.company_id", is_missing(&settings.company_id, 10)),
        (
            "disburse.ach.company_name",
            settings.company_name.trim().is_empty(),
        ),
    ];
    match settings.into_iter().find(|(_, is_wrong)| *is_wrong) {
        Some((setting, _)) => Err(DisburseError::AchNotSet { setting }),
        None => Ok(()),
    }
}

/// Writes the file.
pub(in crate::disbursement) fn write(header: &Header<'_>, payments: &[Payment<'_>]) -> String {
    let settings = header.settings;
    let bank = &settings.destination[..8];
    let (date, time) = (header.created.date(), header.created.time());
    let mut out = String::with_capacity((payments.len() + 14) * (RECORD_LENGTH + 1));
    // Several files of one day have different letters.
    let modifier = char::from(b'A' + u8::try_from((header.number - 1).rem_euclid(26)).unwrap_or(0));
    let _ = writeln!(
        out,
        "101 {}{:>10}{}{:02}{:02}{modifier}094101{:<23}{:<23}{:<8}",
        settings.destination,
        settings.origin,
        date.strftime("%y%m%d"),
        time.hour(),
        time.minute(),
        "",
        plain(&settings.company_name, 23),
        "",
    );
    let description = if header.is_test { "TEST ONLY" } else { "DONATIONS" };
    let effective = next_business_day(date);
    let company_id = &settings.company_id;
    let _ = writeln!(
        out,
        "5{CREDITS}{:<16}{:<20}{company_id:<10}CCD{description:<10}{:<6}{}   1{bank}{:07}",
        plain(&settings.company_name, 16),
        "",
        date.strftime("%y%m%d"),
        effective.strftime("%y%m%d"),
        1,
    );
    let (mut hash, mut total) = (0_u64, 0_i64);
    for (number, payment) in (1_u64..).zip(payments) {
        let account = payment.account;
        let code = match account.kind {
            AccountKind::Checking => "22",
            AccountKind::Savings => "32",
        };
        hash += account.routing.as_str()[..8].parse::<u64>().unwrap_or(0);
        total = total.saturating_add(payment.amount.get());
        let _ = writeln!(
            out,
            "6{code}{}{:<17}{:010}{:<15}{:<22}  0{bank}{number:07}",
            account.routing.as_str(),
            account.number(),
            payment.amount.get(),
            plain(&payment.id, 15),
            plain(payment.name, 22),
        );
    }
    let (count, hash) = (payments.len(), hash % HASH_MODULUS);
    let _ = writeln!(
        out,
        "8{CREDITS}{count:06}{hash:010}{:012}{total:012}{company_id:<10}{:<19}{:<6}{bank}{:07}",
        0, "", "", 1,
    );
    let records = count + 4;
    let blocks = records.div_ceil(BLOCK_SIZE);
    let _ = writeln!(
        out,
        "9{:06}{blocks:06}{count:08}{hash:010}{:012}{total:012}{:<39}",
        1, 0, ""
    );
    for _ in records..blocks * BLOCK_SIZE {
        out.push_str(&"9".repeat(RECORD_LENGTH));
        out.push('\n');
    }
    out
}

/// Text in the characters that banks accept: uppercase letters without accents, digits and a few signs, cut to a length.
fn plain(text: &str, max: usize) -> String {
    let folded = fold(text, ' ').to_uppercase();
    let text = if text.is_ascii() {
        text.to_ascii_uppercase()
    } else {
        folded
    };
    let is_accepted = |sign: char| sign.is_ascii_alphanumeric() || " .,-/&()".contains(sign);
    let accepted = text
        .chars()
        .map(|sign| if is_accepted(sign) { sign } else { ' ' });
    accepted.take(max).collect()
}

/// The day on which the bank shall pay: the next one from Monday to Friday. Banks move it past their holidays.
fn next_business_day(date: Date) -> Date {
    let mut day = date;
    loop {
        day = day.checked_add(Span::new().days(1)).unwrap_or(day);
        if !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) || day == Date::MAX {
            return day;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader;
    use super::*;
    use crate::disbursement::bank_account::BankAccount;
    use jiff::civil::date;
    use platform::money::Cents;
    use proptest::prelude::*;

    fn settings() -> AchSettings {
        AchSettings {
            destination: "021000021".to_owned(),
            origin: "1530196605".to_owned(),
            company_id: "1530196605".to_owned(),
            company_name: "Causeway Foundation".to_owned(),
        }
    }

    fn header(settings: &AchSettings) -> Header<'_> {
        Header {
            settings,
            created: date(2026, 11, 20).at(9, 5, 0, 0),
            number: 3,
            is_test: false,
        }
    }

    fn account(index: usize, number: u64) -> BankAccount {
        let routing = ["021000021", "011401533", "091000019", "322271627"][index % 4];
        let kind = if index.is_multiple_of(2) {
            AccountKind::Checking
        } else {
            AccountKind::Savings
        };
        BankAccount::new(
            RoutingNumber::parse(routing).unwrap(),
            kind,
            &format!("{number:06}"),
        )
        .unwrap()
    }

    #[test]
    fn a_file_is_made_of_records_that_banks_know() {
        let settings = settings();
        let (one, other) = (account(0, 123_456_789), account(1, 42));
        let payments = [
            Payment {
                account: &one,
                amount: Cents::new(123_456),
                id: "3-1".to_owned(),
                name: "Études & Co = Très long nom de bibliothèque",
            },
            Payment {
                account: &other,
                amount: Cents::new(1_000),
                id: "3-2".to_owned(),
                name: "Keene Library",
            },
        ];
        let file = write(&header(&settings), &payments);
        let lines: Vec<&str> = file.lines().collect();
        let field = |line: usize, from: usize, to: usize| &lines[line][from..to];
        assert_eq!(field(0, 0, 40), "101 02100002115301966052611200905C094101");
        assert_eq!(field(0, 63, 86), "CAUSEWAY FOUNDATION    ");
        assert_eq!(field(1, 0, 20), "5220CAUSEWAY FOUNDAT");
        assert_eq!(
            field(1, 40, 94),
            "1530196605CCDDONATIONS 261120261123   1021000020000001"
        );
        assert_eq!(
            field(2, 0, 54),
            "622021000021123456789        00001234563-1            "
        );
        assert_eq!(field(2, 54, 76), "ETUDES AND CO TRES LON");
        assert_eq!(field(2, 76, 94), "  0021000020000001");
        assert_eq!(field(3, 0, 39), "632011401533000042           0000001000");
        assert_eq!(
            field(4, 0, 54),
            "822000000200032401550000000000000000001244561530196605"
        );
        assert_eq!(field(4, 79, 94), "021000020000001");
        assert_eq!(
            field(5, 0, 55),
            "9000001000001000000020003240155000000000000000000124456"
        );
        assert!(lines.iter().all(|line| line.len() == RECORD_LENGTH), "{file}");
        assert_eq!(lines.len() % BLOCK_SIZE, 0);
    }

    #[test]
    fn a_friday_is_followed_by_a_monday() {
        assert_eq!(next_business_day(date(2026, 11, 20)), date(2026, 11, 23));
        assert_eq!(next_business_day(date(2026, 11, 18)), date(2026, 11, 19));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The reader finds the payments that were written, and every change of a digit.
        #[test]
        fn the_reader_verifies_what_was_written(
            amounts in prop::collection::vec((0..4_usize, 0..1_000_000_u64, 1..9_999_999_i64), 1..40),
            place in any::<prop::sample::Index>(),
        ) {
            let settings = settings();
            let accounts: Vec<BankAccount> = amounts.iter().map(|(bank, number, _)| account(*bank, *number)).collect();
            let payments: Vec<Payment<'_>> = amounts
                .iter()
                .zip(&accounts)
                .enumerate()
                .map(|(index, ((_, _, cents), account))| Payment {
                    account,
                    amount: Cents::new(*cents),
                    id: format!("3-{}", index + 1),
                    name: "Library",
                })
                .collect();
            let file = write(&header(&settings), &payments);
            let read = reader::read(&file).unwrap();
            prop_assert!(read.compare(&payments).is_ok());
            // A digit of an amount.
            let line = 2 + place.index(payments.len());
            let at = line * (RECORD_LENGTH + 1) + 38;
            let mut damaged = file.into_bytes();
            damaged[at] = if damaged[at] == b'9' { b'8' } else { damaged[at] + 1 };
            prop_assert!(reader::read(str::from_utf8(&damaged).unwrap()).is_err());
        }
    }
}
