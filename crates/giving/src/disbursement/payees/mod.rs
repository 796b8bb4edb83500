//! How nonprofits are paid: by ACH to a bank account, or by check to an address.
//!
//! Bank accounts are encrypted with the secret of the store, for the nonprofit they belong to. After a change of how a
//! nonprofit is paid, nothing is paid to it for `disburse.change_hold_days`: changed bank details are how payments are stolen.

mod import;
pub mod save;
pub mod store;

use super::bank_account::{AccountKind, BankAccount, RoutingNumber};
use platform::email_address::EmailAddress;
use platform::ids::NonprofitId;
use thiserror::Error;

const MAX_TEXT_CHARS: usize = 200;

/// How a nonprofit is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Ach,
    Check,
}

impl Method {
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Ach => "ach",
            Method::Check => "check",
        }
    }

    pub fn find(name: &str) -> Option<Method> {
        [Method::Ach, Method::Check]
            .into_iter()
            .find(|method| method.as_str().eq_ignore_ascii_case(name))
    }
}

/// A mailing address in the United States.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    pub street: String,
    pub city: String,
    /// Two letters.
    pub state: String,
    pub zip: String,
}

impl Address {
    pub fn is_empty(&self) -> bool {
        self.street.is_empty()
    }

    /// Returns whether a check can be mailed there.
    pub fn is_complete(&self) -> bool {
        !(self.street.is_empty() || self.city.is_empty() || self.state.is_empty() || self.zip.is_empty())
    }
}

/// How a nonprofit is paid, without its bank account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payee {
    pub nonprofit: NonprofitId,
    pub method: Method,
    pub name: String,
    /// The last four digits of the bank account.
    pub last_four: Option<String>,
    /// Where checks go; empty for the address in the files of the IRS.
    pub address: Address,
    pub email: Option<EmailAddress>,
    /// Grows with each change of how the nonprofit is paid.
    pub version: i64,
    pub changed_at: i64,
    /// Nothing is paid before then.
    pub held_until: Option<i64>,
}

/// A new or changed payee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayeeInput {
    pub nonprofit: NonprofitId,
    pub method: Method,
    pub name: String,
    /// The bank account of a payee that is paid by ACH.
    pub bank: Option<BankAccount>,
    pub address: Address,
    pub email: Option<EmailAddress>,
}

/// The fields of a payee as they are typed or in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayeeField {
    Method,
    Name,
    RoutingNumber,
    AccountNumber,
    AccountType,
    Street,
    City,
    State,
    Zip,
    Email,
}

impl PayeeField {
    pub const ALL: [PayeeField; 10] = [
        PayeeField::Method,
        PayeeField::Name,
        PayeeField::RoutingNumber,
        PayeeField::AccountNumber,
        PayeeField::AccountType,
        PayeeField::Street,
        PayeeField::City,
        PayeeField::State,
        PayeeField::Zip,
        PayeeField::Email,
    ];

    /// The name of the column in a file and of the field in a form.
    pub const fn name(self) -> &'static str {
        match self {
            PayeeField::Method => "method",
            PayeeField::Name => "name",
            PayeeField::RoutingNumber => "routing_number",
            PayeeField::AccountNumber => "account_number",
            PayeeField::AccountType => "account_type",
            PayeeField::Street => "street",
            PayeeField::City => "city",
            PayeeField::State => "state",
            PayeeField::Zip => "zip",
            PayeeField::Email => "email",
        }
    }
}

/// What is wrong with a field. The text never has the value of a bank account.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct PayeeFieldError {
    pub field: PayeeField,
    pub problem: String,
}

fn wrong(field: PayeeField, problem: impl Into<String>) -> PayeeFieldError {
    PayeeFieldError {
        field,
        problem: problem.into(),
    }
}

impl PayeeInput {
    /// Parses the fields of a payee. `value` returns the text of a field, and `kept` is the account of a payee that has one: it
    /// stays if neither number is typed. `default_name` is the name of the nonprofit.
    pub fn parse<'a>(
        nonprofit: NonprofitId,
        default_name: &str,
        kept: Option<&BankAccount>,
        value: impl Fn(PayeeField) -> &'a str,
    ) -> Result<PayeeInput, PayeeFieldError> {
        let text = |field: PayeeField| {
            let text = value(field).trim();
            if text.starts_with(['=', '+', '-', '@']) {
                return Err(wrong(
                    field,
                    format!(
                        "{} begins with {}, as a formula does; write the plain text",
                        field.name(),
                        &text[..1]
                    ),
                ));
            }
            if text.chars().count() > MAX_TEXT_CHARS || text.contains(char::is_control) {
                return Err(wrong(
                    field,
                    format!(
                        "{} is too long or has control characters; write up to 200 plain characters",
                        field.name()
                    ),
                ));
            }
            Ok(text)
        };
        for field in PayeeField::ALL {
            text(field)?;
        }
        let method = match text(PayeeField::Method)? {
            "" => {
                return Err(wrong(
                    PayeeField::Method,
                    "the method is missing; write ach or check",
                ));
            }
            name => Method::find(name)
                .ok_or_else(|| wrong(PayeeField::Method, "the method is unknown; write ach or check"))?,
        };
        let bank = match method {
            Method::Ach => Some(parse_bank(kept, text)?),
            Method::Check => {
                for field in [PayeeField::RoutingNumber, PayeeField::AccountNumber] {
                    if !text(field)?.is_empty() {
                        return Err(wrong(
                            field,
                            "a payee that gets checks has no bank account; remove the numbers, or write ach as the method",
                        ));
                    }
                }
                None
            }
        };
        let email = match text(PayeeField::Email)? {
            "" => None,
            email => Some(EmailAddress::parse(email).map_err(|_| {
                wrong(
                    PayeeField::Email,
                    "the email address is invalid; write one such as pay@example.org",
                )
            })?),
        };
        Ok(PayeeInput {
            nonprofit,
            method,
            name: match text(PayeeField::Name)? {
                "" => default_name.to_owned(),
                name => name.to_owned(),
            },
            bank,
            address: parse_address(text)?,
            email,
        })
    }

    /// Describes the payee for the audit log.
    pub(super) fn describe(&self) -> String {
        match &self.bank {
            Some(bank) => format!("ach, account ending in {}", bank.last_four()),
            None => "check".to_owned(),
        }
    }
}

fn parse_bank<'a>(
    kept: Option<&BankAccount>,
    text: impl Fn(PayeeField) -> Result<&'a str, PayeeFieldError>,
) -> Result<BankAccount, PayeeFieldError> {
    let (routing, number) = (text(PayeeField::RoutingNumber)?, text(PayeeField::AccountNumber)?);
    if let (Some(kept), "", "") = (kept, routing, number) {
        return Ok(kept.clone());
    }
    let routing =
        RoutingNumber::parse(routing).map_err(|problem| wrong(PayeeField::RoutingNumber, problem))?;
    let kind = match text(PayeeField::AccountType)? {
        "" => AccountKind::Checking,
        name => AccountKind::find(name).ok_or_else(|| {
            wrong(
                PayeeField::AccountType,
                "the type of the account is unknown; write checking or savings",
            )
        })?,
    };
    BankAccount::new(routing, kind, number).map_err(|problem| wrong(PayeeField::AccountNumber, problem))
}

/// Parses an address, which is complete or empty.
fn parse_address<'a>(
    text: impl Fn(PayeeField) -> Result<&'a str, PayeeFieldError>,
) -> Result<Address, PayeeFieldError> {
    let address = Address {
        street: text(PayeeField::Street)?.to_owned(),
        city: text(PayeeField::City)?.to_owned(),
        state: text(PayeeField::State)?.to_ascii_uppercase(),
        zip: text(PayeeField::Zip)?.to_owned(),
    };
    if address == Address::default() {
        return Ok(address);
    }
    for (field, part) in [
        (PayeeField::Street, &address.street),
        (PayeeField::City, &address.city),
        (PayeeField::State, &address.state),
        (PayeeField::Zip, &address.zip),
    ] {
        if part.is_empty() {
            return Err(wrong(
                field,
                format!(
                    "the address has no {}; complete it, or leave it empty for the one the IRS knows",
                    field.name()
                ),
            ));
        }
    }
    if address.state.len() != 2 || !address.state.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(wrong(
            PayeeField::State,
            "the state is not two letters; write one such as NY",
        ));
    }
    let zip: Vec<&str> = address.zip.split('-').collect();
    let are_digits =
        |part: &str, count| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_zip = matches!(zip.as_slice(), [five] if are_digits(five, 5))
        || matches!(zip.as_slice(), [five, four] if are_digits(five, 5) && are_digits(four, 4));
    if !is_zip {
        return Err(wrong(
            PayeeField::Zip,
            "the ZIP code is invalid; write five digits, such as 00501",
        ));
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(fields: &[(PayeeField, &'static str)]) -> Result<PayeeInput, PayeeFieldError> {
        let value = |field| {
            fields
                .iter()
                .find(|(name, _)| *name == field)
                .map_or("", |(_, text)| *text)
        };
        PayeeInput::parse(NonprofitId(uuid::Uuid::from_u128(1)), "Library", None, value)
    }

    #[test]
    fn a_payee_needs_what_its_method_needs() {
        use PayeeField::{AccountNumber, City, Email, Method as M, Name, RoutingNumber, State, Street, Zip};
        let ach = [
            (M, "ACH"),
            (RoutingNumber, "021000021"),
            (AccountNumber, "12345678"),
        ];
        let parsed = parse(&ach).unwrap();
        assert_eq!((parsed.name.as_str(), parsed.method), ("Library", Method::Ach));
        let check = parse(&[
            (M, "check"),
            (Street, "1 Main"),
            (City, "Keene"),
            (State, "nh"),
            (Zip, "03431"),
        ]);
        assert_eq!(check.unwrap().address.state, "NH");
        for (fields, field) in [
            (vec![], M),
            (vec![(M, "wire")], M),
            (vec![(M, "ach")], RoutingNumber),
            (
                vec![(M, "ach"), (RoutingNumber, "021000021"), (AccountNumber, "12x4")],
                AccountNumber,
            ),
            (vec![(M, "check"), (AccountNumber, "12345")], AccountNumber),
            (vec![(M, "check"), (Name, "=cmd()")], Name),
            (vec![(M, "check"), (Email, "nobody")], Email),
            (
                vec![(M, "check"), (Street, "1 Main"), (City, "Keene"), (State, "NH")],
                Zip,
            ),
            (
                vec![
                    (M, "check"),
                    (Street, "1 Main"),
                    (City, "Keene"),
                    (State, "NH"),
                    (Zip, "3431"),
                ],
                Zip,
            ),
        ] {
            assert_eq!(parse(&fields).unwrap_err().field, field, "{fields:?}");
        }
    }
}
