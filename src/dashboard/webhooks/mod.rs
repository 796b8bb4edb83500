//! Webhook endpoints on the dashboard: listing, creating, changing, testing and deleting them, and what was sent.

mod actions;
mod delivery;
mod form;
mod pages;
mod view;

pub(in crate::dashboard) use view::EndpointView;

pub use actions::{delete, delete_page, disable, enable, replay, rotate, rotate_page, test};
pub use delivery::{delivery, retry};
pub use form::{create, edit, edit_page, new_page};
pub use pages::{endpoint, list};
