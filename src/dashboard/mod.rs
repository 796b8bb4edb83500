//! The pages for signed-in users: keys, usage, fundraisers, the nonprofits that they run, settings, and the operator pages.

pub mod chart;
pub mod csv;
pub mod email_change;
pub mod email_choices;
pub mod emails;
pub mod first_steps;
pub mod fundraisers;
pub mod key_view;
pub mod keys;
pub mod nonprofits;
pub mod operator;
pub mod origins;
pub mod public_profile;
pub mod reset;
pub mod settings;
pub mod settings_page;
pub mod sign_in;
pub mod sign_in_code;
pub mod standing;
pub mod two_factor;
pub mod uploads;
pub mod usage;
pub mod webhooks;
pub mod welcome;
