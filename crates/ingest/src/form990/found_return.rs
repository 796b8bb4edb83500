//! What is found in a file: returns, and what cannot be read.

use super::reader::{Document, ReturnError};

/// A return that was found in a file, or the reason why something in a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundReturn {
    /// The position of the file among those that are read, from 0.
    pub file: usize,
    /// The name of the file, or of the member of an archive, without folders. Empty if an error concerns a whole archive.
    pub member: String,
    /// The ID of the filing, from the name of its file. Empty if the name does not contain it.
    pub object_id: String,
    pub result: Result<Document, ReturnError>,
}

impl FoundReturn {
    pub fn new(file: usize, path: &str, result: Result<Document, ReturnError>) -> FoundReturn {
        let member = base_name(path);
        FoundReturn {
            file,
            object_id: object_id(&member).to_owned(),
            member,
            result,
        }
    }
}

/// What reading a file produces.
pub(super) enum Step {
    Found(FoundReturn),
    IndexRows(u64),
    /// Up to where the file has been read, in bytes.
    Position(u64),
}

/// Returns the last part of a path, without control characters. Folders are never used: a path in an archive can point
/// anywhere.
pub(crate) fn base_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// Returns the ID at the start of a name such as `202301319349302585_public.xml`: 18 digits.
fn object_id(member: &str) -> &str {
    let digits = member.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 18 { &member[..digits] } else { "" }
}
