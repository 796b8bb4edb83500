//! What the pages of the site and the dashboard share: layout, forms, texts, assets, error pages and security headers.

pub mod asset_route;
pub mod assets;
pub mod cover_motif;
pub mod dates;
pub mod error_page;
pub mod flash;
pub mod form;
pub mod form_page;
pub mod fundraiser_article;
pub mod guard;
pub mod icons;
pub mod identity;
pub mod layout;
pub mod markdown;
pub mod meta;
pub mod numbers;
pub mod page;
pub mod pager;
pub mod qr_code;
pub mod relative_time;
pub mod share_links;
pub mod texts;

pub use form::{Field, Form, FormData, UploadForm};
pub use layout::{Layout, Section};
pub use meta::Meta;
pub use page::{Page, PublicPage};
pub use pager::Pager;
