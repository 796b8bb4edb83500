//! The SQL of claims.

use super::{ClaimState, ClaimStep, DOCUMENT_LIFETIME, Proof, Role};
use platform::db::{Db, Tx, from_row, query};
use platform::ids::{AccountId, NonprofitId};
use uuid::Uuid;

macro_rules! claims {
    ($rest:literal) => {
        concat!(
            "select c.id, c.nonprofit_id, c.account_id, a.username, a.email, c.state, c.role, c.proof, c.domain, ",
            "c.evidence, c.person, c.position, c.created_at, c.proven_at, c.decided_at, c.note, ",
            "c.document is not null as has_document from claims c join accounts a on a.id = c.account_id ",
            $rest
        )
    };
}

const FIND: &str = claims!("where c.id = $1");
const FIND_WAITING: &str =
    claims!("where c.nonprofit_id = $1 and c.account_id = $2 and c.state in ('requested', 'proven')");
const LIST_OF_ACCOUNT: &str =
    claims!("where c.account_id = $1 order by c.created_at desc, c.id desc limit $2");
const LIST_WAITING: &str =
    claims!("where c.state in ('requested', 'proven') order by c.created_at, c.id limit $1 offset $2");
const LIST_MEMBERS: &str = claims!(
    "where c.nonprofit_id = $1 and c.state = 'approved' and a.deleted_at is null \
     order by c.role, c.decided_at, c.id limit 100"
);
const COUNT_WAITING: &str = "select count(*) from claims where state in ('requested', 'proven')";
const COUNT_OPEN: &str =
    "select count(*) from claims where account_id = $1 and state in ('requested', 'proven', 'approved')";
const COUNT_ADMINISTRATORS: &str = "select count(*) from claims c join accounts a on a.id = c.account_id \
     where c.nonprofit_id = $1 and c.state = 'approved' and c.role = 'administrator' \
     and a.deleted_at is null and a.suspended_at is null";
/// Who has turned off two-factor sign-in since, or is suspended, may do nothing until that ends.
const FIND_ROLE: &str = "select c.role from claims c join accounts a on a.id = c.account_id \
     join two_factor t on t.account_id = c.account_id \
     where c.nonprofit_id = $1 and c.account_id = $2 and c.state = 'approved' \
     and a.suspended_at is null and a.deleted_at is null and t.enabled_at is not null";
const INSERT: &str = "insert into claims (id, nonprofit_id, account_id, state, role, proof, domain, evidence, person, \
     position, created_at, note, document) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '', $12) \
     on conflict do nothing";
const PROVE: &str = "update claims set state = $3, proven_at = $4 where id = $1 and state = $2";
const DECIDE: &str =
    "update claims set state = $3, decided_at = $4, decided_by = $5, note = $6 where id = $1 and state = $2";
/// An invitation in place of a proof.
const SET_INVITED: &str = "update claims set role = $2, proof = 'invitation', evidence = $3 where id = $1";
const WITHDRAW_ALL: &str = "update claims set state = 'withdrawn', decided_at = $2, document = null \
     where account_id = $1 and state in ('requested', 'proven', 'approved')";
/// Of two decisions about a nonprofit at the same time, the second one waits here.
const LOCK: &str = "insert into claimed_nonprofits (nonprofit_id, changes) values ($1, 1) \
     on conflict (nonprofit_id) do update set changes = claimed_nonprofits.changes + 1";
const INSERT_LINK: &str = "insert into claim_links (hash, nonprofit_id, claim_id, role, email, created_by, created_at) \
     values ($1, $2, $3, $4, $5, $6, $7)";
const FIND_LINK: &str =
    "select nonprofit_id, claim_id, role, email, created_by, created_at from claim_links where hash = $1";
const LIST_INVITATIONS: &str = "select nonprofit_id, claim_id, role, email, created_by, created_at from claim_links \
     where nonprofit_id = $1 and created_at > $2 and claim_id is null order by created_at limit 100";
const REMOVE_LINK: &str = "delete from claim_links where hash = $1";
const REMOVE_INVITATION: &str =
    "delete from claim_links where nonprofit_id = $1 and created_at = $2 and claim_id is null";
const REMOVE_OLD_LINKS: &str = "delete from claim_links where created_at <= $1";
const FIND_DOCUMENT: &str = "select document from claims where id = $1";
const REMOVE_OLD_DOCUMENTS: &str = "update claims set document = null where document is not null and decided_at is not null and decided_at <= $1";
const LIST_OPERATORS: &str =
    "select id from accounts where operator and deleted_at is null and suspended_at is null limit 20";

/// A claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub id: Uuid,
    pub nonprofit: NonprofitId,
    pub account: AccountId,
    pub username: String,
    /// The email address of the account.
    pub account_email: Option<String>,
    pub state: ClaimState,
    pub role: Role,
    pub proof: Proof,
    /// The domain of the filed website when the claim was made.
    pub domain: Option<String>,
    /// The token at the domain, or the email address.
    pub evidence: Option<String>,
    pub person: String,
    pub position: String,
    pub created_at: i64,
    pub proven_at: Option<i64>,
    pub decided_at: Option<i64>,
    pub note: String,
    pub has_document: bool,
}

struct ClaimRow {
    id: Uuid,
    nonprofit_id: Uuid,
    account_id: Uuid,
    username: String,
    email: Option<String>,
    state: String,
    role: String,
    proof: String,
    domain: Option<String>,
    evidence: Option<String>,
    person: String,
    position: String,
    created_at: i64,
    proven_at: Option<i64>,
    decided_at: Option<i64>,
    note: String,
    has_document: bool,
}

from_row!(ClaimRow {
    id,
    nonprofit_id,
    account_id,
    username,
    email,
    state,
    role,
    proof,
    domain,
    evidence,
    person,
    position,
    created_at,
    proven_at,
    decided_at,
    note,
    has_document,
});

/// An emailed link: it proves the address of a claim, or it is an invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimLink {
    pub nonprofit: NonprofitId,
    pub(crate) claim: Option<Uuid>,
    /// The role of whoever is invited.
    pub role: Option<Role>,
    pub email: Option<String>,
    pub created_by: AccountId,
    pub created_at: i64,
}

struct LinkRow {
    nonprofit_id: Uuid,
    claim_id: Option<Uuid>,
    role: Option<String>,
    email: Option<String>,
    created_by: Uuid,
    created_at: i64,
}

from_row!(LinkRow {
    nonprofit_id,
    claim_id,
    role,
    email,
    created_by,
    created_at,
});

fn claim(row: ClaimRow) -> Option<Claim> {
    Some(Claim {
        id: row.id,
        nonprofit: NonprofitId(row.nonprofit_id),
        account: AccountId(row.account_id),
        username: row.username,
        account_email: row.email,
        state: ClaimState::find(&row.state)?,
        role: Role::find(&row.role)?,
        proof: Proof::find(&row.proof)?,
        domain: row.domain,
        evidence: row.evidence,
        person: row.person,
        position: row.position,
        created_at: row.created_at,
        proven_at: row.proven_at,
        decided_at: row.decided_at,
        note: row.note,
        has_document: row.has_document,
    })
}

fn link(row: LinkRow) -> ClaimLink {
    ClaimLink {
        nonprofit: NonprofitId(row.nonprofit_id),
        claim: row.claim_id,
        role: row.role.as_deref().and_then(Role::find),
        email: row.email,
        created_by: AccountId(row.created_by),
        created_at: row.created_at,
    }
}

/// Finds a claim.
pub async fn find(db: &Db, id: Uuid) -> sqlx::Result<Option<Claim>> {
    let row: Option<ClaimRow> = db.fetch_optional(query(FIND).bind(id)).await?;
    Ok(row.and_then(claim))
}

/// Finds a claim within a transaction.
pub(crate) async fn find_in(tx: &mut Tx, id: Uuid) -> sqlx::Result<Option<Claim>> {
    let row: Option<ClaimRow> = tx.fetch_optional(query(FIND).bind(id)).await?;
    Ok(row.and_then(claim))
}

/// Finds the claim of a nonprofit by an account that waits.
pub(crate) async fn find_waiting_in(
    tx: &mut Tx,
    nonprofit: NonprofitId,
    account: AccountId,
) -> sqlx::Result<Option<Claim>> {
    let row: Option<ClaimRow> = tx
        .fetch_optional(query(FIND_WAITING).bind(nonprofit.0).bind(account.0))
        .await?;
    Ok(row.and_then(claim))
}

/// Lists the claims of an account, newest first.
pub async fn list_of_account(db: &Db, account: AccountId) -> sqlx::Result<Vec<Claim>> {
    let rows: Vec<ClaimRow> = db
        .fetch_all(query(LIST_OF_ACCOUNT).bind(account.0).bind(100i64))
        .await?;
    Ok(rows.into_iter().filter_map(claim).collect())
}

/// Lists the claims that wait for a decision or a proof, oldest first.
pub async fn list_waiting(db: &Db, take: i64, skip: i64) -> sqlx::Result<Vec<Claim>> {
    let rows: Vec<ClaimRow> = db.fetch_all(query(LIST_WAITING).bind(take).bind(skip)).await?;
    Ok(rows.into_iter().filter_map(claim).collect())
}

/// Lists the approved claims of a nonprofit, administrators first.
pub async fn list_members(db: &Db, nonprofit: NonprofitId) -> sqlx::Result<Vec<Claim>> {
    let rows: Vec<ClaimRow> = db.fetch_all(query(LIST_MEMBERS).bind(nonprofit.0)).await?;
    Ok(rows.into_iter().filter_map(claim).collect())
}

/// Lists them within a transaction.
pub(crate) async fn list_members_in(tx: &mut Tx, nonprofit: NonprofitId) -> sqlx::Result<Vec<Claim>> {
    let rows: Vec<ClaimRow> = tx.fetch_all(query(LIST_MEMBERS).bind(nonprofit.0)).await?;
    Ok(rows.into_iter().filter_map(claim).collect())
}

/// Counts the claims that wait for a decision or a proof.
pub async fn count_waiting(db: &Db) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT_WAITING)).await
}

/// Counts the claims of an account that are open or approved.
pub(crate) async fn count_open(tx: &mut Tx, account: AccountId) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(COUNT_OPEN).bind(account.0)).await
}

/// Returns whether a nonprofit has an administrator.
pub(crate) async fn has_administrator(tx: &mut Tx, nonprofit: NonprofitId) -> sqlx::Result<bool> {
    let count: i64 = tx
        .fetch_scalar(query(COUNT_ADMINISTRATORS).bind(nonprofit.0))
        .await?;
    Ok(count > 0)
}

/// Finds what an account may do for a nonprofit now.
pub async fn find_role(db: &Db, nonprofit: NonprofitId, account: AccountId) -> sqlx::Result<Option<Role>> {
    let role: Option<String> = db
        .fetch_optional_scalar(query(FIND_ROLE).bind(nonprofit.0).bind(account.0))
        .await?;
    Ok(role.as_deref().and_then(Role::find))
}

/// Finds the same within the transaction of what the account does.
pub async fn find_role_in(
    tx: &mut Tx,
    nonprofit: NonprofitId,
    account: AccountId,
) -> sqlx::Result<Option<Role>> {
    let role: Option<String> = tx
        .fetch_optional_scalar(query(FIND_ROLE).bind(nonprofit.0).bind(account.0))
        .await?;
    Ok(role.as_deref().and_then(Role::find))
}

/// Inserts a claim. Returns `false` if the account has an open one for the nonprofit.
pub(crate) async fn insert(tx: &mut Tx, claim: &Claim, document: Option<&[u8]>) -> sqlx::Result<bool> {
    let inserted = tx
        .execute(
            query(INSERT)
                .bind(claim.id)
                .bind(claim.nonprofit.0)
                .bind(claim.account.0)
                .bind(claim.state.as_str())
                .bind(claim.role.as_str())
                .bind(claim.proof.as_str())
                .bind(&claim.domain)
                .bind(&claim.evidence)
                .bind(&claim.person)
                .bind(&claim.position)
                .bind(claim.created_at)
                .bind(document),
        )
        .await?;
    Ok(inserted > 0)
}

/// Takes a step of a claim. Returns the new state, or `None` if the step is not possible or the claim has changed.
pub(crate) async fn take_step(
    tx: &mut Tx,
    claim: &Claim,
    step: ClaimStep,
    (decided_by, note): (Option<AccountId>, &str),
    now: i64,
) -> sqlx::Result<Option<ClaimState>> {
    let Some(next) = claim.state.after(step, claim.proof) else {
        return Ok(None);
    };
    let sql = if step == ClaimStep::Prove { PROVE } else { DECIDE };
    let mut statement = query(sql)
        .bind(claim.id)
        .bind(claim.state.as_str())
        .bind(next.as_str())
        .bind(now);
    if step != ClaimStep::Prove {
        statement = statement.bind(decided_by.map(|account| account.0)).bind(note);
    }
    let changed = tx.execute(statement).await?;
    Ok((changed > 0).then_some(next))
}

/// Records that an invitation replaces the proof of an open claim.
pub(crate) async fn set_invited(tx: &mut Tx, id: Uuid, role: Role, email: Option<&str>) -> sqlx::Result<()> {
    tx.execute(query(SET_INVITED).bind(id).bind(role.as_str()).bind(email))
        .await
        .map(|_| ())
}

/// Withdraws all claims of an account that is deleted.
pub(crate) async fn withdraw_all_in(tx: &mut Tx, account: AccountId, now: i64) -> sqlx::Result<()> {
    tx.execute(query(WITHDRAW_ALL).bind(account.0).bind(now))
        .await
        .map(|_| ())
}

/// Lets decisions about a nonprofit wait for each other.
pub(crate) async fn lock(tx: &mut Tx, nonprofit: NonprofitId) -> sqlx::Result<()> {
    tx.execute(query(LOCK).bind(nonprofit.0)).await.map(|_| ())
}

/// Inserts a link, and removes those that no longer work.
pub(crate) async fn insert_link(tx: &mut Tx, hash: &[u8], link: &ClaimLink, oldest: i64) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_OLD_LINKS).bind(oldest)).await?;
    tx.execute(
        query(INSERT_LINK)
            .bind(hash)
            .bind(link.nonprofit.0)
            .bind(link.claim)
            .bind(link.role.map(Role::as_str))
            .bind(&link.email)
            .bind(link.created_by.0)
            .bind(link.created_at),
    )
    .await
    .map(|_| ())
}

/// Finds a link by the hash of its token.
pub(crate) async fn find_link(tx: &mut Tx, hash: &[u8]) -> sqlx::Result<Option<ClaimLink>> {
    let row: Option<LinkRow> = tx.fetch_optional(query(FIND_LINK).bind(hash)).await?;
    Ok(row.map(link))
}

/// Removes a link, in the transaction of its effect. Returns `false` if it was used before.
pub(crate) async fn take_link(tx: &mut Tx, hash: &[u8]) -> sqlx::Result<bool> {
    let removed = tx.execute(query(REMOVE_LINK).bind(hash)).await?;
    Ok(removed > 0)
}

/// Lists the invitations of a nonprofit that still work, oldest first.
pub async fn list_invitations(db: &Db, nonprofit: NonprofitId, oldest: i64) -> sqlx::Result<Vec<ClaimLink>> {
    let rows: Vec<LinkRow> = db
        .fetch_all(query(LIST_INVITATIONS).bind(nonprofit.0).bind(oldest))
        .await?;
    Ok(rows.into_iter().map(link).collect())
}

/// Removes the invitation of a nonprofit that was created at a time. Returns `false` if there is none.
pub(crate) async fn remove_invitation(
    tx: &mut Tx,
    nonprofit: NonprofitId,
    created_at: i64,
) -> sqlx::Result<bool> {
    let removed = tx
        .execute(query(REMOVE_INVITATION).bind(nonprofit.0).bind(created_at))
        .await?;
    Ok(removed > 0)
}

/// Finds the encrypted document of a claim.
pub(crate) async fn find_document(db: &Db, id: Uuid) -> sqlx::Result<Option<Vec<u8>>> {
    let document: Option<Option<Vec<u8>>> = db.fetch_optional_scalar(query(FIND_DOCUMENT).bind(id)).await?;
    Ok(document.flatten())
}

/// Removes the documents of claims that were decided too long ago, and returns their number.
pub async fn remove_documents(db: &Db, now: i64) -> sqlx::Result<u64> {
    let mut tx = db.write().await?;
    let oldest = now - DOCUMENT_LIFETIME.as_millis() as i64;
    let removed = tx.execute(query(REMOVE_OLD_DOCUMENTS).bind(oldest)).await?;
    tx.commit().await?;
    Ok(removed)
}

/// Lists the operators.
pub(crate) async fn list_operators(tx: &mut Tx) -> sqlx::Result<Vec<AccountId>> {
    let ids: Vec<Uuid> = tx.fetch_scalars(query(LIST_OPERATORS)).await?;
    Ok(ids.into_iter().map(AccountId).collect())
}
