//! The public site.

mod checkout;
mod checkout_limits;
mod developers;
mod discovery;
mod embed;
mod embed_dialog;
mod facts;
pub mod feeds;
mod home;
mod identity;
mod legal;
mod media;
mod media_on_s3;
mod near;
mod origins;
mod pages;
mod partner_links;
mod payment_links;
mod receipts;
mod report;
mod results;
mod share_pictures;
mod shared_limits;
mod sitemaps;
mod test_mode;
