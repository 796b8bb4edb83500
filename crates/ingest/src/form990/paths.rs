//! Where the facts are in a return: the tree of all paths in `data/form990_paths.csv`.

use foldhash::HashMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/form990_paths.csv"
));

static PATHS: LazyLock<Paths> = LazyLock::new(|| Paths::parse(TABLE).expect("the table of paths is valid"));

/// A fact that a return can state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fact {
    Form,
    PeriodBegin,
    PeriodEnd,
    FiledAt,
    Ein,
    Name,
    TradeName,
    Website,
    Summary,
    Mission,
    ProgramText,
    ProgramExpenses,
    ProgramGrants,
    ProgramRevenue,
    GrossReceipts,
    Revenue,
    Expenses,
    Contributions,
    Assets,
    Liabilities,
    NetAssets,
    ExpensesProgram,
    ExpensesManagement,
    ExpensesFundraising,
    /// The sum of the programs, for forms that do not split their expenses.
    AllPrograms,
    Employees,
    Volunteers,
    Formed,
    GroupReturn,
    Amended,
    Final,
    OfficerName,
    OfficerTitle,
    /// Whether the person of Part VII is an officer, and not only a director or an employee.
    IsOfficer,
    /// Form 990-EZ lists officers, directors and trustees without telling them apart.
    BoardName,
    BoardTitle,
    ExplanationReference,
    ExplanationTitle,
    ExplanationText,
}

const FACTS: [(&str, Fact); 39] = [
    ("form", Fact::Form),
    ("period_begin", Fact::PeriodBegin),
    ("period_end", Fact::PeriodEnd),
    ("filed_at", Fact::FiledAt),
    ("ein", Fact::Ein),
    ("name", Fact::Name),
    ("trade_name", Fact::TradeName),
    ("website", Fact::Website),
    ("summary", Fact::Summary),
    ("mission", Fact::Mission),
    ("program_text", Fact::ProgramText),
    ("program_expenses", Fact::ProgramExpenses),
    ("program_grants", Fact::ProgramGrants),
    ("program_revenue", Fact::ProgramRevenue),
    ("gross_receipts", Fact::GrossReceipts),
    ("revenue", Fact::Revenue),
    ("expenses", Fact::Expenses),
    ("contributions", Fact::Contributions),
    ("assets", Fact::Assets),
    ("liabilities", Fact::Liabilities),
    ("net_assets", Fact::NetAssets),
    ("expenses_program", Fact::ExpensesProgram),
    ("expenses_management", Fact::ExpensesManagement),
    ("expenses_fundraising", Fact::ExpensesFundraising),
    ("all_programs", Fact::AllPrograms),
    ("employees", Fact::Employees),
    ("volunteers", Fact::Volunteers),
    ("formed", Fact::Formed),
    ("group_return", Fact::GroupReturn),
    ("amended", Fact::Amended),
    ("final", Fact::Final),
    ("officer_name", Fact::OfficerName),
    ("officer_title", Fact::OfficerTitle),
    ("is_officer", Fact::IsOfficer),
    ("board_name", Fact::BoardName),
    ("board_title", Fact::BoardTitle),
    ("explanation_reference", Fact::ExplanationReference),
    ("explanation_title", Fact::ExplanationTitle),
    ("explanation_text", Fact::ExplanationText),
];

/// Which one of several a value belongs to, such as the second program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// There is only one.
    Only,
    /// The form has a place of its own for it.
    Numbered(u8),
    /// Each repetition of the enclosing element is another one.
    Each,
}

/// A fact that an element states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    pub fact: Fact,
    pub slot: Slot,
}

/// The number of a node in the tree.
pub type Node = usize;

/// The root of the tree, which stands for `Return`.
pub const ROOT: Node = 0;

/// The tree of all paths. `ReturnData` is not part of a path.
#[derive(Debug, Default)]
pub struct Paths {
    children: HashMap<(Node, &'static str), Node>,
    stated: Vec<Option<Stated>>,
}

impl Paths {
    /// Returns the tree of `data/form990_paths.csv`.
    pub fn built_in() -> &'static Paths {
        &PATHS
    }

    /// Returns the node of a child element, or `None` if no path passes through it.
    pub fn child(&self, node: Node, name: &str) -> Option<Node> {
        self.children.get(&(node, name)).copied()
    }

    /// Returns the fact that the element at a node states.
    pub fn stated(&self, node: Node) -> Option<Stated> {
        self.stated[node]
    }

    fn parse(table: &'static str) -> Result<Paths, String> {
        let mut paths = Paths {
            children: HashMap::default(),
            stated: vec![None],
        };
        for line in table.lines().skip(1) {
            let [_, fact, slot, _, path] = line.split(',').collect::<Vec<_>>()[..] else {
                return Err(format!("{line}: not five columns"));
            };
            let (_, fact) = FACTS
                .into_iter()
                .find(|(name, _)| *name == fact)
                .ok_or_else(|| format!("{line}: unknown fact"))?;
            let slot = match slot {
                "" => Slot::Only,
                "each" => Slot::Each,
                number => Slot::Numbered(number.parse().map_err(|_| format!("{line}: unknown slot"))?),
            };
            let mut node = ROOT;
            for name in path.split('/') {
                let next = paths.stated.len();
                node = *paths.children.entry((node, name)).or_insert(next);
                if node == next {
                    paths.stated.push(None);
                }
            }
            if paths.stated[node].replace(Stated { fact, slot }).is_some() {
                return Err(format!("{line}: a second fact at the same path"));
            }
        }
        Ok(paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_has_a_path() {
        let paths = Paths::built_in();
        for (name, fact) in FACTS {
            let is_stated = paths.stated.iter().flatten().any(|stated| stated.fact == fact);
            assert!(is_stated, "{name}");
        }
    }

    #[test]
    fn a_mistake_in_the_table_is_found() {
        assert!(Paths::parse("form,fact,slot,versions,path\n990,websit,,2013-,IRS990/A").is_err());
        assert!(Paths::parse("form,fact,slot,versions,path\n990,website,x,2013-,IRS990/A").is_err());
        assert!(
            Paths::parse("form,fact,slot,versions,path\n990,website,,2013-,A/B\n990,mission,,2013-,A/B")
                .is_err()
        );
    }
}
