//! The public pages: home, search, profiles, causes, fundraisers, checkout, share cards, feeds.

pub mod card;
pub mod causes;
pub mod checkout;
pub mod crawlers;
pub mod developers;
pub mod embed;
pub mod feeds;
pub mod fundraiser;
pub mod marked;
pub mod media;
pub mod profile;
pub mod search;
pub mod share;
