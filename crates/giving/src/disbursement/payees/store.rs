//! The SQL of payees.

use super::{Address, Method, Payee, PayeeInput};
use platform::db::{Db, Tx, from_row, query};
use platform::email_address::EmailAddress;
use platform::ids::NonprofitId;
use uuid::Uuid;

macro_rules! payees {
    ($rest:literal) => {
        concat!(
            "select nonprofit_id, method, name, bank, last_four, street, city, state, zip, email, version, changed_at, ",
            "held_until from payees ",
            $rest
        )
    };
}

const FIND: &str = payees!("where nonprofit_id = $1");
const LIST: &str = payees!("order by changed_at desc, nonprofit_id limit $1 offset $2");
const COUNT: &str = "select count(*) from payees";
const INSERT: &str = "insert into payees (nonprofit_id, method, name, bank, last_four, street, city, state, zip, email, \
     version, created_at, changed_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, $11)";
const UPDATE: &str = "update payees set method = $2, name = $3, bank = $4, last_four = $5, street = $6, city = $7, state = $8, \
     zip = $9, email = $10, version = version + 1, changed_at = $11, held_until = $12 where nonprofit_id = $1";
const SET_EMAIL: &str = "update payees set email = $2 where nonprofit_id = $1";

struct PayeeRow {
    nonprofit_id: Uuid,
    method: String,
    name: String,
    bank: Option<Vec<u8>>,
    last_four: Option<String>,
    street: String,
    city: String,
    state: String,
    zip: String,
    email: Option<String>,
    version: i64,
    changed_at: i64,
    held_until: Option<i64>,
}

from_row!(PayeeRow {
    nonprofit_id,
    method,
    name,
    bank,
    last_four,
    street,
    city,
    state,
    zip,
    email,
    version,
    changed_at,
    held_until,
});

/// Converts a row, and returns the encrypted bank account too.
fn payee(row: PayeeRow) -> Option<(Payee, Option<Vec<u8>>)> {
    let payee = Payee {
        nonprofit: NonprofitId(row.nonprofit_id),
        method: Method::find(&row.method)?,
        name: row.name,
        last_four: row.last_four,
        address: Address {
            street: row.street,
            city: row.city,
            state: row.state,
            zip: row.zip,
        },
        email: row.email.and_then(|email| EmailAddress::parse(&email).ok()),
        version: row.version,
        changed_at: row.changed_at,
        held_until: row.held_until,
    };
    Some((payee, row.bank))
}

/// Finds a payee and its encrypted bank account.
pub(in crate::disbursement) async fn find_in(
    tx: &mut Tx,
    nonprofit: NonprofitId,
) -> sqlx::Result<Option<(Payee, Option<Vec<u8>>)>> {
    let row: Option<PayeeRow> = tx.fetch_optional(query(FIND).bind(nonprofit.0)).await?;
    Ok(row.and_then(payee))
}

/// Finds a payee.
pub async fn find(db: &Db, nonprofit: NonprofitId) -> sqlx::Result<Option<Payee>> {
    let row: Option<PayeeRow> = db.fetch_optional(query(FIND).bind(nonprofit.0)).await?;
    Ok(row.and_then(payee).map(|(payee, _)| payee))
}

/// Lists payees, the last changed first.
pub async fn list(db: &Db, take: i64, skip: i64) -> sqlx::Result<Vec<Payee>> {
    let rows: Vec<PayeeRow> = db.fetch_all(query(LIST).bind(take).bind(skip)).await?;
    Ok(rows
        .into_iter()
        .filter_map(payee)
        .map(|(payee, _)| payee)
        .collect())
}

/// Counts the payees.
pub async fn count(db: &Db) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT)).await
}

pub(super) async fn insert(
    tx: &mut Tx,
    input: &PayeeInput,
    bank: Option<Vec<u8>>,
    now: i64,
) -> sqlx::Result<()> {
    let statement = bind(INSERT, input, bank).bind(now);
    tx.execute(statement).await.map(|_| ())
}

/// Changes how a nonprofit is paid, and holds its payments.
pub(super) async fn update(
    tx: &mut Tx,
    input: &PayeeInput,
    bank: Option<Vec<u8>>,
    (now, held_until): (i64, i64),
) -> sqlx::Result<()> {
    let statement = bind(UPDATE, input, bank).bind(now).bind(held_until);
    tx.execute(statement).await.map(|_| ())
}

/// Changes only who is told about payments.
pub(super) async fn set_email(tx: &mut Tx, input: &PayeeInput) -> sqlx::Result<()> {
    let email = input.email.as_ref().map(EmailAddress::as_str);
    let statement = query(SET_EMAIL).bind(input.nonprofit.0).bind(email);
    tx.execute(statement).await.map(|_| ())
}

/// Binds the first ten parameters, which inserts and updates share.
fn bind<'q>(sql: &'static str, input: &'q PayeeInput, bank: Option<Vec<u8>>) -> platform::db::Query<'q> {
    let last_four = input.bank.as_ref().map(|bank| bank.last_four().to_owned());
    query(sql)
        .bind(input.nonprofit.0)
        .bind(input.method.as_str())
        .bind(&input.name)
        .bind(bank)
        .bind(last_four)
        .bind(&input.address.street)
        .bind(&input.address.city)
        .bind(&input.address.state)
        .bind(&input.address.zip)
        .bind(input.email.as_ref().map(EmailAddress::as_str))
}
