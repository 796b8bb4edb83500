//! The public site.

mod checkout;
mod checkout_limits;
mod discovery;
mod embed;
mod feeds;
mod media;
mod pages;
mod partner_links;
mod payment_links;
mod share_pictures;
mod sitemaps;
mod test_mode;
