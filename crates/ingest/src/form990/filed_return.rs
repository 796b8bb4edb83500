//! What one return says about its nonprofit.

use directory::nonprofits::ein::Ein;
use directory::returns::facts::{Amounts, Month};

/// The forms that nonprofits file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// Form 990.
    Long,
    /// Form 990-EZ.
    Short,
    /// Form 990-PF.
    PrivateFoundation,
}

impl Form {
    /// Parses the type of a return as it is filed. Other returns, such as Form 990-T, have no facts for the directory.
    pub fn parse(text: &str) -> Option<Form> {
        match text {
            "990" | "990O" => Some(Form::Long),
            "990EZ" => Some(Form::Short),
            "990PF" => Some(Form::PrivateFoundation),
            _ => None,
        }
    }

    /// Returns the name that people use.
    pub fn name(self) -> &'static str {
        match self {
            Form::Long => "990",
            Form::Short => "990-EZ",
            Form::PrivateFoundation => "990-PF",
        }
    }
}

/// The facts of one return. What a return does not report is absent, not zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiledReturn {
    pub form: Form,
    /// The schema version, such as `2021v4.2`. Empty if it is not stated.
    pub version: String,
    pub ein: Ein,
    pub period_begin: Option<Month>,
    pub period_end: Month,
    /// When it was filed, as written: a date and time with an offset.
    pub filed_at: Option<String>,
    pub is_amended: bool,
    /// Whether the nonprofit says that it ended.
    pub is_final: bool,
    /// Whether the amounts are those of several affiliates together.
    pub is_group_return: bool,
    pub name: Option<String>,
    pub trade_name: Option<String>,
    /// As filed.
    pub website: Option<String>,
    /// Part III line 1 of Form 990, or the exempt purpose of Form 990-EZ.
    pub mission: Option<String>,
    /// Part I line 1 of Form 990.
    pub summary: Option<String>,
    pub programs: Vec<Program>,
    /// The people who run the nonprofit, in the order of the return.
    pub officers: Vec<Officer>,
    /// The entries of Schedule O.
    pub explanations: Vec<Explanation>,
    pub amounts: Amounts,
    pub employees: Option<u32>,
    pub volunteers: Option<u32>,
    pub formed: Option<u16>,
}

/// A program with what was spent on it, in dollars.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub text: String,
    pub expenses: Option<i64>,
    pub grants: Option<i64>,
    pub revenue: Option<i64>,
}

/// An entry of Schedule O: the line that it explains, and the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    pub reference: String,
    pub title: String,
    pub text: String,
}

/// A person with an office, as filed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Officer {
    pub name: String,
    pub title: String,
    pub is_officer: bool,
}
