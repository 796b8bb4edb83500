//! What was asked of a donor before the payment page opens, because somebody tries out stolen cards.

/// The donor got through by a proof of work.
pub const PROOF: &str = "proof";
/// The donor got through by a link in an email.
pub const EMAIL: &str = "email";

/// What was asked of the donor before the payment page opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screening {
    /// The network that started the donation, until it is erased.
    pub network: Option<String>,
    /// The work that was asked for.
    pub proof_bits: Option<i64>,
    /// How the donor got through: [`PROOF`] or [`EMAIL`].
    pub passed_by: Option<String>,
}

impl Screening {
    /// Returns whether the payment page must not be opened yet.
    pub fn is_held(&self) -> bool {
        self.proof_bits.is_some() && self.passed_by.is_none()
    }
}
