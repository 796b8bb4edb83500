//! The facts of a return that are stored: readable texts and amounts, without the XML.

use serde::{Deserialize, Serialize};

/// A month, as a number such as 202306.
pub type Month = u32;

/// What is stored of one return, as JSON. What a return does not report is absent, not zero. Amounts are whole dollars.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReturnFacts {
    /// The form, such as `990-EZ`.
    pub form: String,
    /// The schema version, such as `2021v4.2`. Empty if it is not stated.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The month in which the period begins, such as 202207.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_begin: Option<Month>,
    /// When it was filed, as written: a date and time with an offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filed_at: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_amended: bool,
    /// Whether the nonprofit says that it ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
    /// Whether the amounts are those of several affiliates together.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_group_return: bool,
    /// The legal name as filed, often in capitals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name as the nonprofit writes it, if that is not in capitals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trade_name: Option<String>,
    /// A URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// The mission in one or two sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The whole mission, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description_long: Option<String>,
    /// The programs on which the most was spent, largest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramFacts>,
    /// The people who run the nonprofit, without their pay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub officers: Vec<OfficerFacts>,
    #[serde(skip_serializing_if = "is_default")]
    pub amounts: Amounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub employees: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volunteers: Option<u32>,
    /// The year in which the nonprofit was formed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formed: Option<u16>,
}

/// A program with its amounts in dollars.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProgramFacts {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expenses: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revenue: Option<i64>,
}

/// An officer, by what a return says about the office.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OfficerFacts {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
}

/// The amounts of a return, in whole dollars. They can be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Amounts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gross_receipts: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revenue: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contributions: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expenses: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_expenses: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub management_expenses: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fundraising_expenses: Option<i64>,
    /// At the end of the period, as are the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assets: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liabilities: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net_assets: Option<i64>,
}

fn is_default(amounts: &Amounts) -> bool {
    *amounts == Amounts::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_values_are_not_in_the_json() {
        let facts = ReturnFacts {
            form: "990".to_owned(),
            amounts: Amounts {
                revenue: Some(-5),
                ..Amounts::default()
            },
            ..ReturnFacts::default()
        };
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(json, r#"{"form":"990","amounts":{"revenue":-5}}"#);
        assert_eq!(serde_json::from_str::<ReturnFacts>(&json).unwrap(), facts);
    }
}
