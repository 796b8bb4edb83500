//! The SQL of reports.

use super::{Reason, Report, Subject};
use access::audit::{self, Action, Actor};
use platform::db::{Db, Tx, from_row, query};
use platform::email_address::EmailAddress;
use platform::ids::NonprofitId;
use uuid::Uuid;

macro_rules! reports {
    ($rest:literal) => {
        concat!(
            "select id, subject_kind, subject_id, reason, details, email, created_at, closed_at from reports ",
            $rest
        )
    };
}

const FIND: &str = reports!("where id = $1");
const LIST_BY_EMAIL: &str = reports!("where lower(email) = $1 order by created_at, id");
const ERASE_REPORTER: &str = "update reports set email = null, details = '' where lower(email) = $1";
const OPEN: &str = reports!("where closed_at is null order by created_at, id limit $1 offset $2");
const OPEN_OF_NONPROFIT: &str = reports!(
    "where closed_at is null and subject_kind = 'nonprofit' and subject_id = $1 order by created_at, id limit $2"
);
const CLOSED: &str =
    reports!("where closed_at is not null order by closed_at desc, id desc limit $1 offset $2");
const COUNT_OPEN: &str = "select count(*) from reports where closed_at is null";
const COUNT_CLOSED: &str = "select count(*) from reports where closed_at is not null";
/// The ID comes from the form, so a form that is sent twice is one report.
const INSERT: &str = "insert into reports (id, subject_kind, subject_id, reason, details, email, created_at) \
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing";
const CLOSE: &str = "update reports set closed_at = $2 where id = $1 and closed_at is null";

struct ReportRow {
    id: Uuid,
    subject_kind: String,
    subject_id: Uuid,
    reason: String,
    details: String,
    email: Option<String>,
    created_at: i64,
    closed_at: Option<i64>,
}

from_row!(ReportRow {
    id,
    subject_kind,
    subject_id,
    reason,
    details,
    email,
    created_at,
    closed_at,
});

fn report(row: ReportRow) -> Option<Report> {
    Some(Report {
        id: row.id,
        subject: Subject::find(&row.subject_kind, row.subject_id)?,
        reason: Reason::find(&row.reason).unwrap_or(Reason::Other),
        details: row.details,
        email: row.email,
        created_at: row.created_at,
        closed_at: row.closed_at,
    })
}

/// Inserts a report, unless it exists already.
pub async fn insert(db: &Db, new: &Report) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(
        query(INSERT)
            .bind(new.id)
            .bind(new.subject.kind())
            .bind(new.subject.id())
            .bind(new.reason.as_str())
            .bind(&new.details)
            .bind(&new.email)
            .bind(new.created_at),
    )
    .await?;
    tx.commit().await
}

/// Finds a report.
pub async fn find(db: &Db, id: Uuid) -> sqlx::Result<Option<Report>> {
    let row: Option<ReportRow> = db.fetch_optional(query(FIND).bind(id)).await?;
    Ok(row.and_then(report))
}

/// Lists the reports that were sent with an email address, oldest first.
pub async fn list_by_email(db: &Db, email: &EmailAddress) -> sqlx::Result<Vec<Report>> {
    let rows: Vec<ReportRow> = db
        .fetch_all(query(LIST_BY_EMAIL).bind(email.normalized()))
        .await?;
    Ok(rows.into_iter().filter_map(report).collect())
}

/// Removes an email address from the reports that were sent with it, and returns their number.
pub(crate) async fn erase_reporter(tx: &mut Tx, email: &EmailAddress) -> sqlx::Result<u64> {
    tx.execute(query(ERASE_REPORTER).bind(email.normalized())).await
}

/// Lists the open reports, oldest first, or the closed ones, newest first.
pub async fn list(db: &Db, is_closed: bool, take: i64, skip: i64) -> sqlx::Result<Vec<Report>> {
    let sql = if is_closed { CLOSED } else { OPEN };
    let rows: Vec<ReportRow> = db.fetch_all(query(sql).bind(take).bind(skip)).await?;
    Ok(rows.into_iter().filter_map(report).collect())
}

/// Lists the open reports about a nonprofit, oldest first.
pub async fn list_open_of_nonprofit(db: &Db, id: NonprofitId, take: i64) -> sqlx::Result<Vec<Report>> {
    let rows: Vec<ReportRow> = db
        .fetch_all(query(OPEN_OF_NONPROFIT).bind(id.0).bind(take))
        .await?;
    Ok(rows.into_iter().filter_map(report).collect())
}

/// Counts the open or the closed reports.
pub async fn count(db: &Db, is_closed: bool) -> sqlx::Result<i64> {
    let sql = if is_closed { COUNT_CLOSED } else { COUNT_OPEN };
    db.fetch_scalar(query(sql)).await
}

/// Closes a report, with an audit entry. Returns `false` if it is closed already or does not exist.
pub async fn close(db: &Db, id: Uuid, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let closed = tx.execute(query(CLOSE).bind(id).bind(now)).await?;
    if closed == 0 {
        return Ok(false);
    }
    let action = Action::new(actor, "report close", &id.to_string(), "");
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}
