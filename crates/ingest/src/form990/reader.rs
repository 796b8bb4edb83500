//! Reads a return from XML.
//!
//! Names are compared without their namespace prefix. A return that could exhaust memory, or that is not what it claims to
//! be, is refused: a document type declaration, unknown entities, deep nesting, another encoding, too much text.

use super::filed_return::{Explanation, FiledReturn, Form, Officer, Program};
use super::paths::{Fact, Node, Paths, ROOT, Slot, Stated};
use crate::values;
use directory::nonprofits::ein::Ein;
use directory::returns::facts::{Amounts, Month};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The maximum size of a return. The largest known is 1.6 MB.
pub const MAX_BYTES: usize = 32 << 20;
/// The maximum nesting of elements. Returns nest about ten deep.
const MAX_DEPTH: usize = 64;
/// The maximum length of the name of an element that is looked for.
const MAX_TAG_LEN: usize = 64;
/// The maximum number of attributes that are looked at.
const MAX_ATTRIBUTES: usize = 64;
/// The maximum length of a text that is kept, in bytes. The rest of a longer one is dropped.
const MAX_TEXT_LEN: usize = 16 << 10;
/// The maximum number of programs, of people and of entries of Schedule O that are kept.
const MAX_REPETITIONS: usize = 100;

/// Why a file is not read as a return.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReturnError {
    #[error("it is not an e-file return: there is no Return element")]
    NotAReturn,
    #[error("it is larger than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    #[error("its elements are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    #[error("it has a document type declaration")]
    DocumentType,
    #[error("it refers to the unknown entity {0}")]
    UnknownEntity(String),
    #[error("its encoding is {0}, not UTF-8")]
    Encoding(String),
    #[error("it is not valid UTF-8")]
    NotUtf8,
    #[error("it is not well-formed XML: {0}")]
    NotWellFormed(String),
    #[error("it ends too early")]
    Truncated,
    #[error("its {0} is missing or invalid")]
    Invalid(&'static str),
    #[error("it is damaged: {0}; download the file again")]
    Damaged(String),
    #[error("it is encrypted")]
    Encrypted,
    #[error("it is far too large when decompressed")]
    Bomb,
    #[error("it is an archive inside an archive; give it as a file of its own")]
    NestedArchive,
    #[error(
        "the archive is damaged: {reason}; {members} members were found without its list of members, others may be \
         missing; download the file again"
    )]
    DamagedArchive { reason: String, members: usize },
}

/// What a file contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    Return(Box<FiledReturn>),
    /// A return of another form, such as 990-T, which has no facts for the directory.
    OtherForm(String),
}

/// Reads the first return in `bytes`.
///
/// What stands before its first tag is skipped: byte order marks, sometimes encoded twice, and separators.
pub fn read(bytes: &[u8]) -> Result<Document, ReturnError> {
    read_first(text_of(bytes)?).0
}

/// Reads all returns in `bytes` and calls `on_document` for each. Copies sometimes contain several documents in a row.
///
/// Ends after the first that cannot be read, because the start of the next is not known then.
pub fn read_all<E>(
    bytes: &[u8],
    mut on_document: impl FnMut(Result<Document, ReturnError>) -> Result<(), E>,
) -> Result<(), E> {
    let mut text = match text_of(bytes) {
        Ok(text) => text,
        Err(error) => return on_document(Err(error)),
    };
    loop {
        let (document, end) = read_first(text);
        let is_error = document.is_err();
        on_document(document)?;
        match find_return(&text[end..]) {
            Some(start) if !is_error => text = &text[end + start..],
            _ => return Ok(()),
        }
    }
}

/// Returns the text of a file, from its first tag.
fn text_of(bytes: &[u8]) -> Result<&str, ReturnError> {
    if bytes.len() > MAX_BYTES {
        return Err(ReturnError::TooLarge);
    }
    if bytes.starts_with(&[0xfe, 0xff]) || bytes.starts_with(&[0xff, 0xfe]) {
        return Err(ReturnError::Encoding("UTF-16".to_owned()));
    }
    let start = memchr::memchr(b'<', bytes).ok_or(ReturnError::NotAReturn)?;
    str::from_utf8(&bytes[start..]).map_err(|_| ReturnError::NotUtf8)
}

/// Returns the offset of the first `Return` element.
fn find_return(text: &str) -> Option<usize> {
    memchr::memchr_iter(b'<', text.as_bytes()).find(|start| {
        let tag = &text[start + 1..];
        let tag = &tag[..tag.floor_char_boundary(MAX_TAG_LEN)];
        let name = &tag[..tag
            .find(|c: char| c.is_whitespace() || c == '>')
            .unwrap_or(tag.len())];
        name.rsplit(':').next() == Some("Return")
    })
}

/// Reads the first return in `text`. Also returns where it ends.
fn read_first(text: &str) -> (Result<Document, ReturnError>, usize) {
    let mut xml = Reader::from_str(text);
    let document = find_root(&mut xml).and_then(|version| {
        let mut facts = Facts::default();
        read_elements(&mut xml, &mut facts)?;
        facts.finish(version)
    });
    (document, xml.buffer_position() as usize)
}

/// Reads up to the start of `Return` and returns its version.
fn find_root(xml: &mut Reader<&[u8]>) -> Result<String, ReturnError> {
    loop {
        match next_event(xml)? {
            Event::Start(element) if element.local_name().as_ref() == b"Return" => {
                return Ok(attribute(&element, b"returnVersion"));
            }
            Event::Decl(declaration) => {
                if let Some(Ok(encoding)) = declaration.encoding() {
                    let encoding = String::from_utf8_lossy(&encoding).into_owned();
                    if !matches!(encoding.to_ascii_lowercase().as_str(), "utf-8" | "us-ascii") {
                        return Err(ReturnError::Encoding(encoding));
                    }
                }
            }
            Event::Text(_) | Event::Comment(_) | Event::PI(_) => {}
            _ => return Err(ReturnError::NotAReturn),
        }
    }
}

/// Where the parser is inside an element.
#[derive(Clone, Copy)]
struct Position {
    /// `None` if no fact stands in the element or below.
    node: Option<Node>,
    /// Counts elements with repetitions, so that values of one repetition stay together.
    repetition: u32,
}

fn read_elements(xml: &mut Reader<&[u8]>, facts: &mut Facts) -> Result<(), ReturnError> {
    let paths = Paths::built_in();
    let mut stack = vec![Position {
        node: Some(ROOT),
        repetition: 0,
    }];
    let mut repetitions = 0;
    let mut text = String::new();
    loop {
        match next_event(xml)? {
            Event::Start(element) => {
                if stack.len() == MAX_DEPTH {
                    return Err(ReturnError::TooDeep);
                }
                let parent = stack[stack.len() - 1];
                let name = element.local_name();
                let name = str::from_utf8(name.as_ref()).map_err(|_| ReturnError::NotUtf8)?;
                let node = match parent.node {
                    Some(ROOT) if name == "ReturnData" => Some(ROOT),
                    Some(node) => paths.child(node, name),
                    None => None,
                };
                repetitions += 1;
                stack.push(Position {
                    node,
                    repetition: repetitions,
                });
                text.clear();
            }
            Event::End(_) => {
                let Some(closed) = stack.pop() else {
                    return Err(ReturnError::NotAReturn);
                };
                let Some(parent) = stack.last() else {
                    return Ok(());
                };
                if let Some(stated) = closed.node.and_then(|node| paths.stated(node)) {
                    facts.add(stated, parent.repetition, text.trim());
                }
                text.clear();
            }
            Event::Text(part) => {
                let is_wanted = stack
                    .last()
                    .and_then(|position| position.node)
                    .is_some_and(|node| paths.stated(node).is_some());
                if is_wanted {
                    let part = part.xml10_content().map_err(|_| ReturnError::NotUtf8)?;
                    push_bounded(&mut text, &part);
                }
            }
            Event::CData(part) => {
                let part = part.xml10_content().map_err(|_| ReturnError::NotUtf8)?;
                push_bounded(&mut text, &part);
            }
            Event::GeneralRef(reference) => {
                let entity = reference.decode().map_err(|_| ReturnError::NotUtf8)?;
                let unknown = || ReturnError::UnknownEntity(entity.chars().take(40).collect());
                let replacement = match reference.resolve_char_ref() {
                    Ok(Some(character)) => Cow::Owned(character.to_string()),
                    Ok(None) => quick_xml::escape::resolve_predefined_entity(&entity)
                        .map(Cow::Borrowed)
                        .ok_or_else(unknown)?,
                    Err(_) => return Err(unknown()),
                };
                push_bounded(&mut text, &replacement);
            }
            Event::Eof => return Err(ReturnError::Truncated),
            Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => {}
        }
    }
}

fn next_event<'a>(xml: &mut Reader<&'a [u8]>) -> Result<Event<'a>, ReturnError> {
    match xml.read_event() {
        Ok(Event::DocType(_)) => Err(ReturnError::DocumentType),
        Ok(event) => Ok(event),
        Err(quick_xml::Error::Syntax(_)) if xml.buffer_position() as usize >= xml.get_ref().len() => {
            Err(ReturnError::Truncated)
        }
        Err(error) => Err(ReturnError::NotWellFormed(error.to_string())),
    }
}

/// Appends text, up to the maximum length and a character boundary.
fn push_bounded(text: &mut String, part: &str) {
    let room = MAX_TEXT_LEN.saturating_sub(text.len());
    text.push_str(&part[..part.floor_char_boundary(room)]);
}

fn attribute(element: &BytesStart<'_>, name: &[u8]) -> String {
    // Without the check for duplicates, which takes quadratic time.
    let found = element
        .attributes()
        .with_checks(false)
        .take(MAX_ATTRIBUTES)
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == name);
    found.map_or_else(String::new, |attribute| {
        String::from_utf8_lossy(&attribute.value)
            .chars()
            .take(16)
            .collect()
    })
}

/// The texts of a return by fact, as they were found.
#[derive(Debug, Default)]
struct Facts {
    /// The first value of each fact that has one.
    single: BTreeMap<Fact, String>,
    name_lines: BTreeMap<u8, String>,
    programs: BTreeMap<GroupKey, Program>,
    officers: BTreeMap<GroupKey, Officer>,
    explanations: BTreeMap<GroupKey, Explanation>,
}

/// Numbered groups come before repeated ones, and those in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GroupKey {
    Numbered(u8),
    Repetition(u32),
}

impl Facts {
    fn add(&mut self, stated: Stated, repetition: u32, text: &str) {
        if text.is_empty() {
            return;
        }
        let key = match stated.slot {
            Slot::Numbered(number) => GroupKey::Numbered(number),
            Slot::Only | Slot::Each => GroupKey::Repetition(repetition),
        };
        match stated.fact {
            Fact::Name => {
                let GroupKey::Numbered(line) = key else { return };
                self.name_lines.entry(line).or_insert_with(|| text.to_owned());
            }
            Fact::ProgramText | Fact::ProgramExpenses | Fact::ProgramGrants | Fact::ProgramRevenue => {
                let Some(program) = entry(&mut self.programs, key) else {
                    return;
                };
                match stated.fact {
                    Fact::ProgramText => text.clone_into(&mut program.text),
                    Fact::ProgramExpenses => program.expenses = amount(text),
                    Fact::ProgramGrants => program.grants = amount(text),
                    _ => program.revenue = amount(text),
                }
            }
            Fact::OfficerName | Fact::OfficerTitle | Fact::IsOfficer | Fact::BoardName | Fact::BoardTitle => {
                let Some(officer) = entry(&mut self.officers, key) else {
                    return;
                };
                match stated.fact {
                    Fact::OfficerName => text.clone_into(&mut officer.name),
                    Fact::BoardName => {
                        text.clone_into(&mut officer.name);
                        officer.is_officer = true;
                    }
                    Fact::OfficerTitle | Fact::BoardTitle => text.clone_into(&mut officer.title),
                    _ => officer.is_officer = is_checked(text),
                }
            }
            Fact::ExplanationReference | Fact::ExplanationTitle | Fact::ExplanationText => {
                let Some(explanation) = entry(&mut self.explanations, key) else {
                    return;
                };
                let field = match stated.fact {
                    Fact::ExplanationReference => &mut explanation.reference,
                    Fact::ExplanationTitle => &mut explanation.title,
                    _ => &mut explanation.text,
                };
                text.clone_into(field);
            }
            fact => {
                self.single.entry(fact).or_insert_with(|| text.to_owned());
            }
        }
    }

    fn finish(mut self, version: String) -> Result<Document, ReturnError> {
        let form = self.take(Fact::Form).ok_or(ReturnError::Invalid("form"))?;
        let Some(form) = Form::parse(&form) else {
            return Ok(Document::OtherForm(form));
        };
        let ein = self.take(Fact::Ein).and_then(|text| Ein::parse(&text));
        let period_end = self.take(Fact::PeriodEnd).and_then(|date| month(&date));
        Ok(Document::Return(Box::new(FiledReturn {
            form,
            version,
            ein: ein.ok_or(ReturnError::Invalid("EIN"))?,
            period_begin: self.take(Fact::PeriodBegin).and_then(|date| month(&date)),
            period_end: period_end.ok_or(ReturnError::Invalid("end of the tax period"))?,
            filed_at: self.take(Fact::FiledAt),
            is_amended: self.take(Fact::Amended).is_some_and(|text| is_checked(&text)),
            is_final: self.take(Fact::Final).is_some_and(|text| is_checked(&text)),
            is_group_return: self.take(Fact::GroupReturn).is_some_and(|text| is_checked(&text)),
            name: self.name(),
            trade_name: self.take(Fact::TradeName),
            website: self.take(Fact::Website),
            mission: self.take(Fact::Mission),
            summary: self.take(Fact::Summary),
            amounts: Amounts {
                gross_receipts: self.amount(Fact::GrossReceipts),
                revenue: self.amount(Fact::Revenue),
                contributions: self.amount(Fact::Contributions),
                expenses: self.amount(Fact::Expenses),
                program_expenses: self
                    .amount(Fact::ExpensesProgram)
                    .or_else(|| self.amount(Fact::AllPrograms)),
                management_expenses: self.amount(Fact::ExpensesManagement),
                fundraising_expenses: self.amount(Fact::ExpensesFundraising),
                assets: self.amount(Fact::Assets),
                liabilities: self.amount(Fact::Liabilities),
                net_assets: self.amount(Fact::NetAssets),
            },
            employees: self.count(Fact::Employees),
            volunteers: self.count(Fact::Volunteers),
            formed: self
                .take(Fact::Formed)
                .and_then(|year| year.parse().ok())
                .filter(|year| (1600..=2100).contains(year)),
            programs: self.programs.into_values().collect(),
            officers: self
                .officers
                .into_values()
                .filter(|officer| officer.is_officer && !officer.name.is_empty())
                .collect(),
            explanations: self.explanations.into_values().collect(),
        })))
    }

    /// Joins the lines of the name. A line can also name a person who receives the mail, which is private.
    fn name(&mut self) -> Option<String> {
        let is_addressee = |line: &String| {
            let line = line.to_ascii_uppercase();
            ["C/O", "%", "ATTN"].iter().any(|start| line.starts_with(start))
        };
        let lines: Vec<String> = std::mem::take(&mut self.name_lines)
            .into_values()
            .filter(|line| !is_addressee(line))
            .collect();
        (!lines.is_empty()).then(|| lines.join(" "))
    }

    fn take(&mut self, fact: Fact) -> Option<String> {
        self.single.remove(&fact)
    }

    fn amount(&mut self, fact: Fact) -> Option<i64> {
        self.take(fact).and_then(|text| amount(&text))
    }

    fn count(&mut self, fact: Fact) -> Option<u32> {
        self.amount(fact).and_then(|count| u32::try_from(count).ok())
    }
}

/// Returns the value of a group, which is added unless there are too many.
fn entry<V: Default>(groups: &mut BTreeMap<GroupKey, V>, key: GroupKey) -> Option<&mut V> {
    let has_room = groups.len() < MAX_REPETITIONS || groups.contains_key(&key);
    has_room.then(|| groups.entry(key).or_default())
}

fn amount(text: &str) -> Option<i64> {
    values::amount(text).ok().flatten()
}

/// Returns whether a box is checked: forms say `X`, `1` or `true`.
fn is_checked(text: &str) -> bool {
    matches!(text, "X" | "x" | "1" | "true")
}

/// Parses the month of a date such as 2022-05-31.
fn month(date: &str) -> Option<Month> {
    let (year, rest) = date.split_once('-')?;
    let month: u32 = rest.get(..2)?.parse().ok()?;
    let year: u32 = year.parse().ok()?;
    ((1900..=2200).contains(&year) && (1..=12).contains(&month)).then_some(year * 100 + month)
}

#[cfg(test)]
mod tests;
