//! `GET /v0.2/nonprofit/{identifier}/finances`: the amounts in the returns of a nonprofit.

use crate::api::problems::{NonprofitNotFound, NotModified, PublicKeyProblems};
use crate::api::sources::{SourceBody, month};
use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::public_key::{Details, PublicKey};
use axum::extract::State;
use axum::response::Response;
use directory::returns::facts::ProgramFacts;
use directory::returns::years::{self, FinancialYear};
use serde::Serialize;
use utoipa::ToSchema;

/// The amounts in the returns of a nonprofit.
#[derive(Serialize, ToSchema)]
pub struct FinancesBody {
    #[schema(example = "USD")]
    currency: &'static str,
    /// The unit of all amounts: whole dollars, not cents.
    #[schema(example = "dollars")]
    unit: &'static str,
    /// The last five periods at most, newest first. Empty if no return is known.
    years: Vec<YearBody>,
}

/// One return. Amounts are whole dollars and can be negative. What the return does not report is omitted.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct YearBody {
    /// The month in which the period begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "2022-07", nullable = false)]
    period_begin: Option<String>,
    /// The month in which the period ends.
    #[schema(example = "2023-06")]
    period_end: String,
    /// 990, 990-EZ or 990-PF.
    #[schema(example = "990")]
    form: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    revenue: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    contributions: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    gross_receipts: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    expenses: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    program_expenses: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    management_expenses: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    fundraising_expenses: Option<i64>,
    /// At the end of the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    assets: Option<i64>,
    /// At the end of the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    liabilities: Option<i64>,
    /// At the end of the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    net_assets: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    employees: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    volunteers: Option<u32>,
    /// Whether it replaces an earlier return for the same period.
    amended: bool,
    /// Whether the nonprofit says that it ended.
    #[serde(rename = "final")]
    is_final: bool,
    /// Whether the amounts are those of several affiliates together.
    group: bool,
    /// The programs with the largest expenses, largest first.
    programs: Vec<ProgramBody>,
    source: SourceBody,
}

/// A program, with amounts in whole dollars.
#[derive(Serialize, ToSchema)]
struct ProgramBody {
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    expenses: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    grants: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    revenue: Option<i64>,
}

/// Retrieves the amounts in the returns of a nonprofit, newest period first.
#[utoipa::path(
    get,
    path = "/v0.2/nonprofit/{identifier}/finances",
    operation_id = "finances",
    tag = "nonprofits",
    security(("publicKey" = [])),
    params(("identifier" = String, Path, description = "The slug, the EIN as nine digits, or the ID (a UUID) of the nonprofit.", example = "530196605")),
    responses(
        (status = 200, description = "The returns of the nonprofit.", body = FinancesBody),
        NotModified,
        PublicKeyProblems,
        NonprofitNotFound,
    )
)]
pub async fn finances(
    State(app): State<App>,
    _key: PublicKey<Details>,
    PathText(text): PathText,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let found = app.directory.resolve(&text).await;
    let found = found.map_err(|error| Error::from_resolve(error, &text))?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    let years = match nonprofit.ein {
        Some(ein) => years::list(&app.db, ein).await?,
        None => Vec::new(),
    };
    Ok(cache::json(&if_none_match, found.tag().map(|tag| &**tag), || {
        let body = FinancesBody {
            currency: "USD",
            unit: "dollars",
            years: years.into_iter().map(YearBody::new).collect(),
        };
        serde_json::to_vec(&body).expect("amounts are plain data")
    }))
}

impl YearBody {
    fn new(year: FinancialYear) -> YearBody {
        let FinancialYear { filed, source } = year;
        let facts = filed.facts;
        let amounts = facts.amounts;
        let mut source = SourceBody::new(source);
        source.object_id = Some(filed.object_id).filter(|id| !id.is_empty());
        YearBody {
            period_begin: facts.period_begin.map(month),
            period_end: month(filed.period),
            form: filed.form,
            revenue: amounts.revenue,
            contributions: amounts.contributions,
            gross_receipts: amounts.gross_receipts,
            expenses: amounts.expenses,
            program_expenses: amounts.program_expenses,
            management_expenses: amounts.management_expenses,
            fundraising_expenses: amounts.fundraising_expenses,
            assets: amounts.assets,
            liabilities: amounts.liabilities,
            net_assets: amounts.net_assets,
            employees: facts.employees,
            volunteers: facts.volunteers,
            amended: facts.is_amended,
            is_final: facts.is_final,
            group: facts.is_group_return,
            programs: facts.programs.into_iter().map(ProgramBody::new).collect(),
            source,
        }
    }
}

impl ProgramBody {
    fn new(program: ProgramFacts) -> ProgramBody {
        ProgramBody {
            description: program.text,
            expenses: program.expenses,
            grants: program.grants,
            revenue: program.revenue,
        }
    }
}
