//! An error about one field of a request body or form.

/// An invalid field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The name of the field, such as `goal` or `forNonprofits[2]`.
    pub field: String,
    /// What to send instead.
    pub detail: String,
}

impl FieldError {
    pub fn new(field: impl Into<String>, detail: impl Into<String>) -> FieldError {
        FieldError {
            field: field.into(),
            detail: detail.into(),
        }
    }
}
