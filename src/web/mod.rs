//! Pages: the frame around each of them, forms that keep what was typed, assets, the error page, and the headers
//! that keep a browser from doing what no page of ours asks for.

pub mod assets;
pub mod error_page;
pub mod flash;
pub mod form;
pub mod form_page;
pub mod frame;
pub mod guard;
pub mod meta;
pub mod moment;
pub mod numbers;
pub mod page;
pub mod pager;
pub mod texts;

pub use form::{Field, Form, Sent};
pub use frame::{Frame, Place};
pub use meta::Meta;
pub use page::{Page, PublicPage};
pub use pager::Pager;
