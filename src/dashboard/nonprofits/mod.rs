//! The nonprofits that people claim and run: the claim and its proof, who runs the page, invitations, and editing it.

pub mod claim;
pub mod consent;
pub mod donations;
pub mod edit;
mod found;
pub mod fundraisers;
pub mod invitations;
pub mod members;

pub(in crate::dashboard) use claim::document_type;
pub(in crate::dashboard) use found::{filed_domain, is_shared, name_of};
