//! No list reads or sorts a whole table: every query in the constants of the stores is explained by the database.
//!
//! A query may walk through an index and stop at its limit. One that reads all of a table, on purpose, is an exception with
//! a reason.

use crate::world::World;
use platform::db::Db;
use platform::db::tables::TABLES;
use sqlx::{AssertSqlSafe, Row};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

on_both_databases!(no_list_reads_or_sorts_a_whole_table);

const AT_START: &str = "read once, when a server starts or reloads";
const ON_IMPORT: &str = "an import or a new snapshot reads everything once";
const BY_COMMAND: &str = "only a command or a check by the operator reads it";
const BY_OPERATOR: &str = "only operators see it";
const FEW_ROWS: &str = "operators keep the table small";
const ONLY_OPEN: &str = "reads an index of what is open, which is soon handled or explained";
const WHILE_EMPTY: &str =
    "PostgreSQL prefers a partial index while the table is empty; later a unique one finds the row";
const IN_BACKGROUND: &str = "one server reads it in the background, at most every few minutes";

/// Queries that read a whole table, and why they may.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("access/accounts/store/profile PICTURES", IN_BACKGROUND),
    ("access/accounts/store/summaries LIST", BY_COMMAND),
    ("access/accounts/store/summaries COUNT", BY_OPERATOR),
    ("access/accounts/two_factor/store LIST", BY_COMMAND),
    ("access/claims/store COUNT_WAITING", ONLY_OPEN),
    ("access/consents/store ALL", BY_OPERATOR),
    ("access/keys/store/mod ALL", AT_START),
    ("access/keys/store/mod EXPOSED_UNMAILED", IN_BACKGROUND),
    ("access/keys/store/mod LIMITS", AT_START),
    ("access/keys/store/mod ADDRESS_LIMITS", AT_START),
    ("access/keys/store/pages COUNT", BY_OPERATOR),
    ("access/keys/store/pages PAGE", BY_OPERATOR),
    ("access/limits/store SINCE", AT_START),
    ("access/usage/store TOTALS", BY_OPERATOR),
    ("access/usage/store LAST_USED", BY_OPERATOR),
    ("access/origins/store COUNT_WAITING", BY_OPERATOR),
    ("directory/eligibility/store COUNT_OPEN", BY_OPERATOR),
    ("directory/eligibility/store LIST_CURRENT", ONLY_OPEN),
    ("directory/eligibility/store LIST_DECISIONS", ONLY_OPEN),
    ("directory/eligibility/store LIST_DUE", IN_BACKGROUND),
    ("directory/eligibility/store LIST_FILED_CHANGES", IN_BACKGROUND),
    ("directory/eligibility/store LIST_FILES", FEW_ROWS),
    ("directory/eligibility/store LIST_MATCHES", ON_IMPORT),
    ("directory/eligibility/store LIST_NAME_FINDINGS", AT_START),
    ("directory/history/imports/store COUNT", FEW_ROWS),
    ("directory/history/imports/store LAST_IMPORTS", FEW_ROWS),
    ("directory/history/imports/store LIST_FAILURES", FEW_ROWS),
    ("directory/nonprofits/bulk/store EXISTING", ON_IMPORT),
    ("directory/nonprofits/bulk/store SLUGS_WITHOUT_EIN", ON_IMPORT),
    (
        "directory/nonprofits/bulk/store HAS_NONPROFITS",
        "stops at the first row",
    ),
    ("directory/nonprofits/bulk/store PROFILE_NAMES", ON_IMPORT),
    ("directory/nonprofits/lists/store SELECT", ON_IMPORT),
    ("directory/nonprofits/own_fields/store ALL", ON_IMPORT),
    ("directory/nonprofits/store ALL", ON_IMPORT),
    ("directory/nonprofits/store PROFILES", ON_IMPORT),
    ("directory/nonprofits/store FORMER_SLUGS", ON_IMPORT),
    ("directory/nonprofits/store COUNT", ON_IMPORT),
    ("giving/checkout/store LIST_BY_EMAIL", BY_COMMAND),
    ("giving/checkout/store LIST_ENTRIES_BY_EMAIL", BY_COMMAND),
    ("giving/checkout/store COUNT_WITHOUT_EVENT", BY_COMMAND),
    ("access/accounts/store/summaries COUNT_OPERATORS", BY_OPERATOR),
    ("giving/disbursement/audit/store COUNT_LINES", BY_COMMAND),
    ("giving/disbursement/audit/store LIST_COLLECTED", BY_COMMAND),
    ("giving/disbursement/batches/store COUNT_WAITING", BY_OPERATOR),
    ("giving/disbursement/payees/store COUNT", BY_OPERATOR),
    ("giving/disbursement/reports/store LIST_BALANCES", BY_COMMAND),
    ("giving/disbursement/reports/store LIST_MOVED", BY_COMMAND),
    ("giving/disbursement/reports/store LIST_WAITS", BY_COMMAND),
    ("giving/donations/store COUNT", BY_OPERATOR),
    ("giving/fundraisers/store COUNT_ALL", BY_OPERATOR),
    ("giving/fundraisers/store PAIRS", AT_START),
    ("giving/fundraisers/store ALL_SUPPORTED", BY_COMMAND),
    ("giving/fundraisers/store ALL_OFFLINE", BY_COMMAND),
    ("giving/fundraisers/store COVERS", IN_BACKGROUND),
    ("giving/fundraisers/store COVERS_BY_FUNDRAISER", BY_COMMAND),
    ("giving/ledger/outbox/store EXTENT", BY_COMMAND),
    ("giving/ledger/store LIST_NAMES_OF", BY_COMMAND),
    (
        "giving/ledger/store SUM_CASH",
        "a reconciliation adds it up once a day",
    ),
    ("giving/monthly/store SUMMARIZE", BY_COMMAND),
    ("giving/guard/store LIST_OF", BY_COMMAND),
    (
        "giving/guard/store LIST_NONPROFITS",
        "operators ask for it, and rows are kept for a week",
    ),
    ("giving/reports/store LIST_BY_EMAIL", BY_COMMAND),
    ("giving/webhooks/endpoints/store LIST_BACKLOGS", BY_OPERATOR),
    ("giving/payments/store COUNT_WAITING_EVENTS", ONLY_OPEN),
    ("giving/payments/store LIST_DIFFERENCES", ONLY_OPEN),
    ("giving/payments/store SUM_DIFFERENCES", ONLY_OPEN),
    ("giving/reports/store COUNT_OPEN", BY_OPERATOR),
    ("giving/webhooks/endpoints/store COUNT_BY_STATUS", BY_OPERATOR),
    (
        "giving/webhooks/endpoints/store LIST_ACCOUNTS",
        "an import is an event of every account",
    ),
    ("giving/webhooks/endpoints/store LIST_OF_EVENT", IN_BACKGROUND),
    ("platform/hosted/store BLOBS", BY_COMMAND),
    ("platform/mail/store STATUS", IN_BACKGROUND),
];

/// Queries that read a whole table, or all of a partial index, only on PostgreSQL, and why they may.
const POSTGRES_EXCEPTIONS: &[(&str, &str)] = &[
    ("access/claims/store LIST_WAITING", ONLY_OPEN),
    ("access/takedowns/store LIST", ONLY_OPEN),
    ("directory/eligibility/store LIST_FINDINGS", AT_START),
    ("directory/history/imports/store LAST_OF", FEW_ROWS),
    ("directory/nonprofits/store LIST_PICTURES", IN_BACKGROUND),
    ("giving/fundraisers/store COUNT_HIDDEN", BY_OPERATOR),
    ("giving/fundraisers/store COUNT_IN_REVIEW", BY_OPERATOR),
    ("giving/checkout/store COUNT_TO_CHECK", ONLY_OPEN),
    ("giving/payments/store FIND_DIFFERENCE", ONLY_OPEN),
    ("giving/reports/store COUNT_CLOSED", BY_OPERATOR),
    ("giving/thanks/store LIST_OPEN", ONLY_OPEN),
    ("giving/reports/store OPEN", BY_OPERATOR),
    ("giving/reports/store OPEN_OF_NONPROFIT", BY_OPERATOR),
    ("giving/donations/store FIND_FACTS", WHILE_EMPTY),
    ("giving/donations/store LIST_WITHOUT_RECEIPT", WHILE_EMPTY),
    ("giving/webhooks/events/store FIND_OWN_DONATION", WHILE_EMPTY),
    ("giving/webhooks/events/store LIST_ADMINISTRATORS", WHILE_EMPTY),
    (
        "giving/webhooks/endpoints/store FIND_ACCOUNT_OF_TOKEN",
        WHILE_EMPTY,
    ),
    ("giving/webhooks/endpoints/store FIND_ANY", WHILE_EMPTY),
    ("giving/webhooks/endpoints/store FIND_SECRETS", WHILE_EMPTY),
    ("giving/webhooks/endpoints/store LIST_DELETED", ONLY_OPEN),
    ("giving/webhooks/endpoints/store LIST_REPLAYS", ONLY_OPEN),
];

/// Constants that one database or both cannot explain.
const NOT_EXPLAINED: &[(&str, &str)] = &[
    ("giving/checkout/store LOCK_MAILBOX", "a lock of PostgreSQL"),
    ("platform/hosted/store FIND_AND_LOCK_BLOB", "a lock of PostgreSQL"),
    ("platform/hosted/store LOCK", "a lock of PostgreSQL"),
    ("giving/checkout/store LOCK_STATE", "a lock of PostgreSQL"),
    ("giving/fundraisers/store LOCK", "a lock of PostgreSQL"),
    ("giving/webhooks/endpoints/store LOCK", "a lock of PostgreSQL"),
    (
        "giving/webhooks/endpoints/store LOCK_ACCOUNT",
        "a lock of PostgreSQL",
    ),
    ("giving/webhooks/endpoints/store LOCK_ANY", "a lock of PostgreSQL"),
    ("giving/webhooks/endpoints/store LOCK_DUE", "a lock of PostgreSQL"),
    (
        "giving/webhooks/events/store LOCK_SOURCES",
        "a lock of PostgreSQL",
    ),
    (
        "giving/donations/store LIST",
        "a parameter has no type until it is bound",
    ),
    (
        "giving/donations/store LIST_OWNED",
        "a parameter has no type until it is bound",
    ),
    ("giving/ledger/prefetch/store HEAD", "the start of a statement"),
];

/// Tables with one row, or one for each server, topic or place of anchors.
const SMALL_TABLES: &[&str] = &[
    "accepted_anchors",
    "anchor_places",
    "event_sources",
    "ledger_anchor",
    "ledger_checkpoint",
    "ledger_head",
    "revisions",
    "store",
];

/// A query of a store: the store and the name of the constant.
type Queries = BTreeMap<String, String>;

async fn no_list_reads_or_sorts_a_whole_table(world: &World) {
    let queries = read_queries();
    assert!(queries.len() > 150, "only {} queries were found", queries.len());
    let own = if matches!(world.app.db, Db::Sqlite { .. }) {
        EXCEPTIONS
    } else {
        POSTGRES_EXCEPTIONS
    };
    let all = [EXCEPTIONS, POSTGRES_EXCEPTIONS, NOT_EXPLAINED].concat();
    let exceptions: BTreeMap<&str, &str> = all.into_iter().collect();
    let mut findings = Vec::new();
    let mut unused: BTreeSet<&str> = own.iter().map(|(name, _)| *name).collect();
    for (name, sql) in &queries {
        let finding = match explain(world, sql).await {
            Ok(plan) => whole_table(&world.app.db, sql, &plan).map(|line| format!("{name}: {line}\n  {sql}")),
            Err(error) => Some(format!("{name} cannot be explained: {error}\n  {sql}")),
        };
        if finding.is_some() {
            unused.remove(name.as_str());
        }
        findings.extend(finding.filter(|_| !exceptions.contains_key(name.as_str())));
    }
    assert!(
        findings.is_empty(),
        "add an index and a limit, or an exception with its reason:\n{}",
        findings.join("\n")
    );
    for name in exceptions.keys() {
        assert!(queries.contains_key(*name), "there is no {name}");
    }
    assert!(unused.is_empty(), "these need no exception: {unused:?}");
    planted_queries_are_found(world).await;
}

/// The list as it was before there was an index for it.
async fn planted_queries_are_found(world: &World) {
    for sql in [
        "select id from fundraisers order by title limit $1",
        "select id from fundraisers where title = $1",
        "select count(*) from fundraisers",
        "select id from (select id, title from fundraisers order by title) newest limit $1",
        "select (select 1 from accounts a where a.id = f.account_id limit 1) from fundraisers f",
    ] {
        let plan = explain(world, sql).await.unwrap();
        assert!(
            whole_table(&world.app.db, sql, &plan).is_some(),
            "{sql}: {plan:?}"
        );
    }
}

/// Returns the lines of the plan of a query.
async fn explain(world: &World, sql: &str) -> sqlx::Result<Vec<String>> {
    match &world.app.db {
        Db::Sqlite { readers, .. } => {
            let sql = AssertSqlSafe(format!("explain query plan {sql}"));
            let rows = sqlx::query(sql).fetch_all(readers).await?;
            Ok(rows.iter().map(|row| row.get("detail")).collect())
        }
        Db::Postgres(postgres) => {
            let parameters = (1..=20).filter(|number| has_parameter(sql, *number));
            let nulls = vec!["null"; parameters.max().unwrap_or(0)].join(", ");
            let nulls = if nulls.is_empty() {
                nulls
            } else {
                format!("({nulls})")
            };
            // The tables are empty, so the planner would prefer to read all of them.
            let sql = format!(
                "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; \
                 set plan_cache_mode = force_generic_plan; prepare plan as {sql}; explain execute plan{nulls}"
            );
            // With these settings the connection must not return to the pool.
            let mut connection = postgres.pool().acquire().await?.detach();
            let rows = sqlx::raw_sql(AssertSqlSafe(sql))
                .fetch_all(&mut connection)
                .await?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        }
    }
}

fn has_parameter(sql: &str, number: usize) -> bool {
    let parameter = format!("${number}");
    let mut rests = sql.split(parameter.as_str()).skip(1);
    rests.any(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
}

/// Returns the line of a plan that reads a whole table: without a limit, or to sort it.
fn whole_table<'p>(db: &Db, sql: &str, plan: &'p [String]) -> Option<&'p String> {
    let is_sqlite = matches!(db, Db::Sqlite { .. });
    let sorts = plan
        .iter()
        .any(|line| match line.trim_start_matches([' ', '-', '>']) {
            line if is_sqlite => line == "USE TEMP B-TREE FOR ORDER BY",
            line => line.starts_with("Sort  ("),
        });
    if has_limit(sql) && !sorts {
        return None;
    }
    let tables = tables_by_alias(sql);
    let is_table = |name: &str| {
        let table = tables.get(name).copied().unwrap_or(name);
        TABLES.contains(&table) && !SMALL_TABLES.contains(&table)
    };
    let mut lines = plan.iter().enumerate();
    let whole = lines.find(|(index, line)| {
        let line = line.trim_start_matches([' ', '-', '>']);
        if is_sqlite {
            return line
                .strip_prefix("SCAN ")
                .is_some_and(|rest| is_table(first_word(rest)));
        }
        let scanned = line.split_once(" on ").map(|(_, rest)| first_word(rest));
        // A bitmap comes from the next scan of an index.
        let of_index = if line.starts_with("Bitmap Heap Scan") {
            (index + 1..plan.len()).find(|next| plan[*next].contains("Bitmap Index Scan"))
        } else {
            line.starts_with("Index").then_some(*index)
        };
        let has_condition = |index: usize| {
            plan.get(index + 1)
                .is_some_and(|next| next.contains("Index Cond:"))
        };
        let is_whole = line.starts_with("Seq Scan") || of_index.is_some_and(|index| !has_condition(index));
        is_whole && scanned.is_some_and(is_table)
    });
    whole.map(|(_, line)| line)
}

/// Returns whether a query has a limit: its own, or that of the rows that it reads, but not that of a value.
fn has_limit(sql: &str) -> bool {
    // For each open parenthesis, whether it is around a value.
    let mut open: Vec<bool> = Vec::new();
    let mut rows = String::new();
    for (at, sign) in sql.char_indices() {
        match sign {
            '(' => open.push(!sql[..at].ends_with("from ")),
            ')' => drop(open.pop()),
            _ if !open.contains(&true) => rows.push(sign),
            _ => {}
        }
    }
    rows.contains(" limit ")
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// Returns the tables of a query by the names that it gives them.
fn tables_by_alias(sql: &str) -> HashMap<&str, &str> {
    let words: Vec<&str> = sql
        .split(|sign: char| !(sign.is_alphanumeric() || sign == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let named = words
        .windows(3)
        .filter(|words| ["from", "join"].contains(&words[0]));
    named.map(|words| (words[2], words[1])).collect()
}

/// Reads the constants of all stores that are queries.
fn read_queries() -> Queries {
    let mut queries = Queries::new();
    for path in store_files(Path::new("crates")) {
        // The macros of a store may be in another of its files.
        let folder = path.parent().filter(|parent| parent.ends_with("store"));
        let others = folder.map(store_files).unwrap_or_default();
        let others = others.iter().filter(|other| **other != path);
        let others: String = others.map(|other| fs::read_to_string(other).unwrap()).collect();
        let others = Tokens::new(&others).0;
        let own = Tokens::new(&fs::read_to_string(&path).unwrap()).0;
        let first = others.len();
        let name = path.to_str().unwrap();
        let name = name
            .trim_start_matches("crates/")
            .trim_end_matches(".rs")
            .replace("/src/", "/");
        for (constant, sql) in Tokens([others, own].concat()).constants(first) {
            let sql = sql.unwrap_or_else(|| panic!("{name} {constant} cannot be read"));
            if sql.starts_with("select ") || sql.starts_with("with ") {
                queries.insert(format!("{name} {constant}"), sql);
            }
        }
    }
    queries
}

fn store_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(store_files(&path));
        } else if path.ends_with("store.rs") || path.parent().is_some_and(|parent| parent.ends_with("store"))
        {
            found.push(path);
        }
    }
    found
}

/// The words, string literals and signs of a file.
struct Tokens(Vec<String>);

/// A macro with one result: the names of its parameters, and where its result begins.
type Macros = HashMap<String, (Vec<String>, usize)>;

impl Tokens {
    fn new(text: &str) -> Tokens {
        let signs: Vec<char> = text.chars().collect();
        let (mut tokens, mut at) = (Vec::new(), 0);
        while at < signs.len() {
            let start = at;
            match signs[at] {
                '/' if signs.get(at + 1) == Some(&'/') => {
                    while signs.get(at).is_some_and(|sign| *sign != '\n') {
                        at += 1;
                    }
                    continue;
                }
                '"' => {
                    at += 1;
                    while signs[at] != '"' {
                        at += if signs[at] == '\\' { 2 } else { 1 };
                    }
                    at += 1;
                }
                sign if sign.is_alphanumeric() || sign == '_' => {
                    while signs
                        .get(at)
                        .is_some_and(|sign| sign.is_alphanumeric() || *sign == '_')
                    {
                        at += 1;
                    }
                }
                _ => at += 1,
            }
            let token: String = signs[start..at].iter().collect();
            if !token.trim().is_empty() {
                tokens.push(token);
            }
        }
        Tokens(tokens)
    }

    fn is(&self, at: usize, token: &str) -> bool {
        self.0.get(at).is_some_and(|found| found == token)
    }

    fn find(&self, from: usize, tokens: &[&str]) -> usize {
        let mut rest = from..self.0.len();
        rest.find(|at| tokens.iter().any(|token| self.is(*at, token)))
            .unwrap_or(self.0.len())
    }

    /// Returns the constants of type `&str` from a token on, with their macros expanded.
    fn constants(&self, first: usize) -> Vec<(String, Option<String>)> {
        let (mut constants, mut macros) = (Vec::new(), Macros::new());
        for at in 0..self.0.len() {
            if self.is(at, "macro_rules") {
                self.read_macro(at + 2, &mut macros);
            } else if at >= first && self.is(at, "const") && self.is(at + 2, ":") && self.is(at + 3, "&") {
                let value = self.find(at, &["=", ";"]) + 1;
                if self.is(value - 2, "str") && self.is(value - 1, "=") {
                    let text = self.text(value, &HashMap::new(), &macros);
                    constants.push((self.0[at + 1].clone(), text.map(|(text, _)| text)));
                }
            }
        }
        constants
    }

    /// Reads the rules of a macro: `($parameter:literal) => { … }`, or `(@tag $parameter:literal) => { … }`.
    fn read_macro(&self, name: usize, macros: &mut Macros) {
        let mut at = name + 2;
        while self.is(at, "(") {
            let end = self.find(at, &[")"]);
            let tag = if self.is(at + 1, "@") {
                &*self.0[at + 2]
            } else {
                ""
            };
            let parameters = (at..end).filter(|index| self.is(*index, "$"));
            let parameters = parameters.map(|index| self.0[index + 1].clone()).collect();
            // Behind the parameters: `) => {`.
            let body = end + 4;
            macros.insert(format!("{}{tag}", self.0[name]), (parameters, body));
            let mut depth = 1;
            at = body;
            while depth > 0 {
                depth += usize::from(self.is(at, "{"));
                depth -= usize::from(self.is(at, "}"));
                at += 1;
            }
            at += usize::from(self.is(at, ";"));
        }
    }

    /// Returns the text that begins at a token, and the token behind it. `None` if it is not a text.
    fn text(&self, at: usize, values: &HashMap<&str, String>, macros: &Macros) -> Option<(String, usize)> {
        let token = self.0.get(at)?;
        if token.starts_with('"') {
            return Some((unescape(token), at + 1));
        }
        if token == "$" {
            return Some((values.get(self.0.get(at + 1)?.as_str())?.clone(), at + 2));
        }
        if !self.is(at + 1, "!") {
            return None;
        }
        let (mut arguments, mut next, mut name) = (Vec::new(), at + 3, token.clone());
        if self.is(next, "@") {
            name.push_str(&self.0[next + 1]);
            next += 2;
        }
        while !self.is(next, ")") {
            if self.is(next, ",") {
                next += 1;
                continue;
            }
            let (argument, end) = self.text(next, values, macros)?;
            arguments.push(argument);
            next = end;
        }
        if token == "concat" {
            return Some((arguments.concat(), next + 1));
        }
        let (parameters, body) = macros.get(&name)?;
        let values = parameters.iter().map(String::as_str).zip(arguments).collect();
        let (text, _) = self.text(*body, &values, macros)?;
        Some((text, next + 1))
    }
}

/// Returns the value of a string literal, without the line breaks that are escaped.
fn unescape(literal: &str) -> String {
    let (mut text, mut signs) = (String::new(), literal[1..literal.len() - 1].chars().peekable());
    while let Some(sign) = signs.next() {
        match (sign, signs.peek()) {
            ('\\', Some('\n')) => while signs.next_if(|next| next.is_whitespace()).is_some() {},
            ('\\', Some(_)) => text.extend(signs.next()),
            _ => text.push(sign),
        }
    }
    text
}
