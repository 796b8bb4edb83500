//! Database access for nonprofits and their profiles.

use super::Nonprofit;
use super::assemble::assemble;
use super::causes::Causes;
use super::ein::Ein;
use super::filing::Filing;
use super::identifier::Identifier;
use super::own_fields::store as own_fields;
use super::rows::{NonprofitRow, Profile, StoredNonprofit};
use crate::nonprofits::sources::SourceId;
use futures_util::TryStreamExt;
use platform::db::{Db, Tx, from_row, query, run};
use platform::ids::NonprofitId;
use std::collections::HashMap;
use tokio::sync::mpsc;
use uuid::Uuid;

/// The filing of one nonprofit.
const FIND_FILED: &str = "select filed from nonprofits where id = $1";

/// The joins for the column, with the nonprofit as `n`.
macro_rules! tax_record_joins {
    () => {
        "left join return_profiles r on r.ein = n.ein left join publication_78 d on d.ein = n.ein \
         left join revocations v on v.ein = n.ein left join epostcards e on e.ein = n.ein "
    };
}

/// The expression for the text of [`TaxRecord::parse`](super::tax_record::TaxRecord::parse): null if nothing is known. Long texts come last, because each `||`
/// copies what comes before it.
macro_rules! tax_record_column {
    (@field $column:literal) => {
        concat!(" || '\u{1f}' || coalesce(cast(", $column, " as text), '')")
    };
    (@flag $condition:literal) => {
        concat!("case when ", $condition, " then '1' else '0' end")
    };
    () => {
        concat!(
            "case when coalesce(r.ein, d.ein, v.ein, e.ein) is null then null else ",
            tax_record_column!(@flag "r.ein is not null"), " || ",
            tax_record_column!(@flag "r.is_final"), " || ",
            tax_record_column!(@flag "e.ein is not null"), " || ",
            tax_record_column!(@flag "e.has_small_receipts"), " || ",
            tax_record_column!(@flag "e.is_terminated"), " || ",
            tax_record_column!(@flag "r.ein is not null and '990-PF' = (select f.form from returns f \
                where f.ein = r.ein order by f.period desc limit 1)"),
            tax_record_column!(@field "r.formed"),
            tax_record_column!(@field "r.amounts_period"),
            tax_record_column!(@field "r.revenue"),
            tax_record_column!(@field "r.expenses"),
            tax_record_column!(@field "r.assets"),
            tax_record_column!(@field "d.codes"),
            tax_record_column!(@field "v.revoked_on"),
            tax_record_column!(@field "v.reinstated_on"),
            tax_record_column!(@field "e.tax_year"),
            tax_record_column!(@field "e.period_end"),
            tax_record_column!(@field "e.website_url"),
            tax_record_column!(@field "r.website_period"),
            tax_record_column!(@field "r.website_url"),
            tax_record_column!(@field "r.name"),
            tax_record_column!(@field "r.aliases"),
            tax_record_column!(@field "r.description"),
            tax_record_column!(@field "r.description_long"),
            tax_record_column!(@field "(select f.facts from returns f where f.ein = r.ein \
                order by f.period desc limit 1)"),
            " end as tax_record"
        )
    };
}

macro_rules! nonprofits {
    ($rest:literal) => {
        concat!(
            "select n.id, n.ein, n.slug, n.filed, n.listed, n.gone_at, ",
            tax_record_column!(),
            " from nonprofits n ",
            tax_record_joins!(),
            $rest
        )
    };
}

macro_rules! profiles {
    ($rest:literal) => {
        concat!(
            "select p.nonprofit_id, p.name, p.aliases, p.description, p.description_long, p.website_url, ",
            "p.donate_url, p.stripe_account, p.causes, p.country, p.logo, p.cover from profiles p ",
            $rest
        )
    };
}

const ALL: &str = nonprofits!("");
const BY_ID: &str = nonprofits!("where n.id = $1");
const BY_EIN: &str = nonprofits!("where n.ein = $1");
const BY_SLUG: &str = nonprofits!("where n.slug = $1");
const BY_SLUG_PREFIX: &str =
    nonprofits!("where n.slug >= $1 and n.slug < $2 and n.gone_at is null order by n.slug limit 100");
const BY_FORMER_SLUG: &str = nonprofits!("join former_slugs f on f.nonprofit_id = n.id where f.slug = $1");
const CHANGED_SINCE: &str =
    nonprofits!("where n.id in (select nonprofit_id from directory_changes where revision > $1)");
const PROFILE: &str = profiles!("where p.nonprofit_id = $1");
const PROFILES: &str = profiles!("");
const PROFILES_CHANGED_SINCE: &str =
    profiles!("where p.nonprofit_id in (select nonprofit_id from directory_changes where revision > $1)");
const DONATE_URL: &str = "select donate_url from profiles where nonprofit_id = $1";
const STRIPE_ACCOUNT: &str = "select stripe_account from profiles where nonprofit_id = $1";
const IS_PICTURE_USED: &str = "select exists (select 1 from profiles where logo = $1) \
     or exists (select 1 from profiles where cover = $1) \
     or exists (select 1 from own_fields where value = $1 and field in ('logo', 'cover'))";
const LIST_PICTURES: &str = "select logo from profiles where logo is not null \
     union select cover from profiles where cover is not null \
     union select value from own_fields where field in ('logo', 'cover')";
const FORMER_SLUGS: &str = "select slug, nonprofit_id from former_slugs order by slug";
const FORMER_SLUGS_CHANGED_SINCE: &str = "select f.slug, f.nonprofit_id from former_slugs f where f.nonprofit_id in \
     (select nonprofit_id from directory_changes where revision > $1) order by f.slug";
const COUNT: &str = "select count(*) from nonprofits";
const UPSERT_PROFILE: &str = "insert into profiles (nonprofit_id, name, aliases, description, description_long, \
     website_url, donate_url, causes, country, logo, cover, source, stripe_account) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
     on conflict (nonprofit_id) do update set name = excluded.name, aliases = excluded.aliases, \
     description = excluded.description, description_long = excluded.description_long, \
     website_url = excluded.website_url, donate_url = excluded.donate_url, causes = excluded.causes, country = excluded.country, \
     logo = excluded.logo, cover = excluded.cover, source = excluded.source, stripe_account = excluded.stripe_account";
const SOURCES: &str = concat!(
    "select p.source as profile, r.description_source as description, r.description_period, ",
    "r.website_source as website, r.website_period, r.amounts_source as amounts, r.amounts_period, ",
    "d.source as publication_78, v.source as revocation, e.source as epostcard, e.tax_year as epostcard_year, ",
    "e.period_end as epostcard_end from nonprofits n left join profiles p on p.nonprofit_id = n.id ",
    tax_record_joins!(),
    "where n.id = $1"
);

/// The websites that others filed at a domain.
const LIST_WEBSITES: &str = "select website_url from return_profiles \
     where (lower(website_url) like $1 or lower(website_url) like $2) and ein <> $3 \
     union all select website_url from epostcards \
     where (lower(website_url) like $1 or lower(website_url) like $2) and ein <> $3 limit 1000";

const FILINGS: &str = "select \
     (select revoked_on from revocations where ein = $1) as revoked_on, \
     (select reinstated_on from revocations where ein = $1) as reinstated_on, \
     exists (select 1 from publication_78 where ein = $1) or exists (select 1 from return_profiles where ein = $1) \
     or exists (select 1 from epostcards where ein = $1) as is_in_other_files";

/// The number of rows in a batch of [`send_all`].
const BATCH_SIZE: usize = 1_000;

/// What the files of the IRS besides the master file say about an EIN that may have no nonprofit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filings {
    /// Dates are YYYY-MM-DD.
    pub revoked_on: Option<String>,
    pub reinstated_on: Option<String>,
    /// Whether Publication 78, the returns or the notices on Form 990-N have it.
    pub is_in_other_files: bool,
}

from_row!(Filings {
    revoked_on,
    reinstated_on,
    is_in_other_files
});

/// Finds what the files of the IRS besides the master file say about an EIN.
pub(crate) async fn find_filings(db: &Db, ein: Ein) -> sqlx::Result<Filings> {
    let ein = i64::from(ein.value());
    db.fetch_one(query(FILINGS).bind(ein)).await
}

/// Lists the websites at a domain that other nonprofits filed, with or without `www.`. They may also be at a domain that
/// only begins like this one. A host has no wildcards.
pub async fn list_filed_websites(db: &Db, domain: &str, except: Option<Ein>) -> sqlx::Result<Vec<String>> {
    db.fetch_scalars(
        query(LIST_WEBSITES)
            .bind(format!("%//{domain}%"))
            .bind(format!("%//www.{domain}%"))
            .bind(except.map_or(0, |ein| i64::from(ein.value()))),
    )
    .await
}

/// The mailing address of a nonprofit in the newest file of the IRS. Parts may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailingAddress {
    pub street: String,
    pub city: String,
    pub state: String,
    pub zip: String,
}

/// Finds the mailing address of a nonprofit in the newest file of the IRS.
pub async fn find_mailing_address(db: &Db, id: NonprofitId) -> sqlx::Result<Option<MailingAddress>> {
    let filed: Option<String> = db.fetch_optional_scalar(query(FIND_FILED).bind(id.0)).await?;
    Ok(filed.map(|filed| {
        let filing = Filing::parse(&filed);
        MailingAddress {
            street: filing.street.to_owned(),
            city: filing.city.to_owned(),
            state: filing.state.to_owned(),
            zip: filing.zip.to_owned(),
        }
    }))
}

/// Calls `then` with every nonprofit.
pub async fn for_each(tx: &mut Tx, mut then: impl FnMut(&NonprofitRow) + Send) -> sqlx::Result<()> {
    tx.for_each(query(ALL), |row| {
        then(&row);
        Ok(())
    })
    .await
}

/// Sends every nonprofit to a channel, in batches. Continues without effect if the receiver is gone.
pub async fn send_all(tx: &mut Tx, sender: &mpsc::Sender<Vec<NonprofitRow>>) -> sqlx::Result<()> {
    run!(tx, c => {
        let mut rows = sqlx::query_as::<_, NonprofitRow>(ALL).fetch(c);
        let mut batch = Vec::with_capacity(BATCH_SIZE);
        while let Some(row) = rows.try_next().await? {
            batch.push(row);
            if batch.len() == BATCH_SIZE {
                // If the receiver panicked, the caller sees the panic when it awaits the task.
                let _ = sender.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH_SIZE))).await;
            }
        }
        let _ = sender.send(batch).await;
        Ok(())
    })
}

/// Finds a nonprofit in the store and calls `then` with it.
pub async fn find<T>(
    db: &Db,
    identifier: &Identifier,
    causes: &Causes,
    then: impl FnOnce(&Nonprofit<'_>) -> T,
) -> sqlx::Result<Option<T>> {
    let mut tx = db.view().await?;
    let Some(row) = find_row(&mut tx, identifier).await? else {
        return Ok(None);
    };
    let profile = find_shown_profile(&mut tx, row.stored.id).await?;
    Ok(Some(assemble(&row, profile.as_ref(), causes, then)))
}

/// Lists nonprofits whose slug starts with `prefix`, most prominent first. Used for search while there is no snapshot.
pub async fn list_by_slug<T>(
    db: &Db,
    prefix: &str,
    take: usize,
    causes: &Causes,
    then: impl Fn(&Nonprofit<'_>) -> T,
) -> sqlx::Result<Vec<T>> {
    let mut tx = db.view().await?;
    // Every character of a slug sorts before `~`.
    let end = format!("{prefix}~");
    let rows: Vec<NonprofitRow> = tx.fetch_all(query(BY_SLUG_PREFIX).bind(prefix).bind(end)).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let profile = find_shown_profile(&mut tx, row.stored.id).await?;
        found.push(assemble(&row, profile.as_ref(), causes, |nonprofit| {
            (nonprofit.prominence, then(nonprofit))
        }));
    }
    found.sort_by_key(|(prominence, _)| std::cmp::Reverse(*prominence));
    Ok(found
        .into_iter()
        .take(take)
        .map(|(_, nonprofit)| nonprofit)
        .collect())
}

/// Finds the row of a nonprofit.
pub async fn find_stored(tx: &mut Tx, identifier: &Identifier) -> sqlx::Result<Option<StoredNonprofit>> {
    let found = find_row(tx, identifier).await?;
    Ok(found.map(|row| row.stored))
}

/// Finds the row of a nonprofit, with what the other files of the IRS say.
pub(crate) async fn find_row(tx: &mut Tx, identifier: &Identifier) -> sqlx::Result<Option<NonprofitRow>> {
    match identifier {
        Identifier::Id(id) => tx.fetch_optional(query(BY_ID).bind(id.0)).await,
        Identifier::Ein(ein) => {
            tx.fetch_optional(query(BY_EIN).bind(i64::from(ein.value())))
                .await
        }
        Identifier::Slug(slug) => {
            let current = tx.fetch_optional(query(BY_SLUG).bind(slug.as_str())).await?;
            match current {
                Some(row) => Ok(Some(row)),
                None => tx.fetch_optional(query(BY_FORMER_SLUG).bind(slug.as_str())).await,
            }
        }
    }
}

/// Finds the profile of a nonprofit, with what it says about itself in place of what was imported.
pub(crate) async fn find_shown_profile(tx: &mut Tx, id: Uuid) -> sqlx::Result<Option<Profile>> {
    let imported = find_profile(tx, id).await?;
    own_fields::apply_to(tx, id, imported).await
}

/// Finds the imported profile of a nonprofit.
pub async fn find_profile(tx: &mut Tx, id: Uuid) -> sqlx::Result<Option<Profile>> {
    tx.fetch_optional(query(PROFILE).bind(id)).await
}

/// Finds the URL of a nonprofit's own donation page.
pub async fn find_donate_url(db: &Db, id: NonprofitId) -> sqlx::Result<Option<String>> {
    let found: Option<Option<String>> = db.fetch_optional_scalar(query(DONATE_URL).bind(id.0)).await?;
    Ok(found.flatten())
}

/// Finds the nonprofit's own account at Stripe.
pub async fn find_stripe_account(db: &Db, id: NonprofitId) -> sqlx::Result<Option<String>> {
    let found: Option<Option<String>> = db.fetch_optional_scalar(query(STRIPE_ACCOUNT).bind(id.0)).await?;
    Ok(found.flatten())
}

/// Returns whether a hosted picture is the logo or the cover of a nonprofit.
pub async fn is_picture_used(db: &Db, hosted_id: &str) -> sqlx::Result<bool> {
    db.fetch_scalar(query(IS_PICTURE_USED).bind(hosted_id)).await
}

/// Lists the logos and covers of nonprofits: IDs of hosted pictures, and URLs.
pub async fn list_pictures(db: &Db) -> sqlx::Result<Vec<String>> {
    db.fetch_scalars(query(LIST_PICTURES)).await
}

/// Lists all profiles, with what nonprofits say about themselves, by the ID of their nonprofit.
pub async fn list_profiles(tx: &mut Tx) -> sqlx::Result<HashMap<Uuid, Profile>> {
    let profiles: Vec<Profile> = tx.fetch_all(query(PROFILES)).await?;
    let mut profiles = by_nonprofit(profiles);
    own_fields::apply_to_all(tx, &mut profiles).await?;
    Ok(profiles)
}

/// Lists the former slugs of renamed nonprofits, sorted.
pub(crate) async fn list_former_slugs(tx: &mut Tx) -> sqlx::Result<Vec<(String, Uuid)>> {
    tx.fetch_all(query(FORMER_SLUGS)).await
}

/// Lists the nonprofits that small imports after `revision` changed, with their profiles.
pub async fn list_changed(
    tx: &mut Tx,
    revision: i64,
) -> sqlx::Result<(Vec<NonprofitRow>, HashMap<Uuid, Profile>)> {
    let rows: Vec<NonprofitRow> = tx.fetch_all(query(CHANGED_SINCE).bind(revision)).await?;
    let profiles = tx.fetch_all(query(PROFILES_CHANGED_SINCE).bind(revision)).await?;
    let mut profiles = by_nonprofit(profiles);
    own_fields::apply_to_changed(tx, revision, &mut profiles).await?;
    Ok((rows, profiles))
}

/// Lists the former slugs of the nonprofits that small imports after `revision` changed, sorted.
pub async fn list_changed_former_slugs(tx: &mut Tx, revision: i64) -> sqlx::Result<Vec<(String, Uuid)>> {
    tx.fetch_all(query(FORMER_SLUGS_CHANGED_SINCE).bind(revision))
        .await
}

/// Counts the nonprofits in the store.
pub async fn count(db: &Db) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT)).await
}

/// Inserts or updates a profile. `source` is the file that changed it.
pub async fn upsert_profile(tx: &mut Tx, profile: &Profile, source: SourceId) -> sqlx::Result<()> {
    tx.execute(
        query(UPSERT_PROFILE)
            .bind(profile.nonprofit_id)
            .bind(&profile.name)
            .bind(&profile.aliases)
            .bind(&profile.description)
            .bind(&profile.description_long)
            .bind(&profile.website_url)
            .bind(&profile.donate_url)
            .bind(&profile.causes)
            .bind(&profile.country)
            .bind(&profile.logo)
            .bind(&profile.cover)
            .bind(source.number())
            .bind(&profile.stripe_account),
    )
    .await
    .map(|_| ())
}

/// The sources of what is stated about a nonprofit, and the periods that they are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceNumbers {
    /// The last change of the profile.
    pub profile: Option<i64>,
    pub description: Option<i64>,
    pub description_period: Option<i64>,
    pub website: Option<i64>,
    pub website_period: Option<i64>,
    pub amounts: Option<i64>,
    pub amounts_period: Option<i64>,
    pub publication_78: Option<i64>,
    pub revocation: Option<i64>,
    pub epostcard: Option<i64>,
    pub epostcard_year: Option<i64>,
    pub epostcard_end: Option<String>,
}

from_row!(SourceNumbers {
    profile,
    description,
    description_period,
    website,
    website_period,
    amounts,
    amounts_period,
    publication_78,
    revocation,
    epostcard,
    epostcard_year,
    epostcard_end,
});

/// Finds the sources of what is stated about a nonprofit.
pub(crate) async fn find_sources(tx: &mut Tx, id: NonprofitId) -> sqlx::Result<Option<SourceNumbers>> {
    tx.fetch_optional(query(SOURCES).bind(id.0)).await
}

fn by_nonprofit(profiles: Vec<Profile>) -> HashMap<Uuid, Profile> {
    profiles
        .into_iter()
        .map(|profile| (profile.nonprofit_id, profile))
        .collect()
}
