//! The public pages: home, search, profiles, causes, fundraisers, checkout, share cards, feeds.

pub mod card;
pub mod cause_links;
pub mod causes;
pub mod checkout;
pub mod crawlers;
pub mod developers;
pub mod embed;
pub mod feeds;
pub mod find;
pub mod fundraiser;
pub mod fundraiser_links;
pub mod highlight;
pub mod home;
pub mod legal;
pub mod media;
pub mod popular;
pub mod profile;
pub mod report;
pub mod results;
pub mod search;
pub mod search_explanation;
pub mod search_filters;
pub mod share;
pub mod share_cards;
pub mod share_links;
pub mod sitemaps;
