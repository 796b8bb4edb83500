//! Payments by Stripe, with the simulator in the place of Stripe.

mod again;
mod bank;
mod card_testing;
mod connect;
mod differences;
mod doctor;
mod donations;
mod events;
mod link;
mod monthly;
mod operator;
mod partner_events;
mod refunds;
mod secrets;
