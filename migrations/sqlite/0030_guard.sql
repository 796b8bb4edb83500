-- The previous version may run beside this migration.

-- To whom a donation is dedicated: `honor` or `memory`, and the name. notice_…: the person who is told about it by email, and
-- when that email was queued.
alter table donations add column dedication text;
alter table donations add column dedicatee text;
alter table donations add column notice_email text;
alter table donations add column notice_mailbox text;
alter table donations add column notice_message text;
alter table donations add column notice_at integer;

-- The nonprofit's own account at Stripe that is charged; null if it is the operator's. attempted_at: when the donor last began to
-- pay; null if that was when the donation was started.
alter table donations add column account text;
alter table donations add column attempted_at integer;
alter table profiles add column stripe_account text;

-- The network that started the donation, as an HMAC that is erased after a week. proof_bits: the work that the donor has to
-- prove before the payment page opens, because somebody was trying out stolen cards; null if nothing was asked. passed_by: how
-- the donor got through, `proof` or `email`.
alter table donations add column network text;
alter table donations add column proof_bits integer;
alter table donations add column passed_by text;

create index donations_notices on donations (notice_mailbox, notice_at) where notice_at is not null;
create index donations_notice_email on donations (lower(notice_email)) where notice_email is not null;
create index donations_network on donations (network, started_at) where network is not null;
create index donations_nonprofit_network on donations (nonprofit_id, started_at) where network is not null;
create index donations_asked on donations (started_at) where proof_bits is not null;

-- Payments by card that were declined. They show when somebody tries out stolen cards.
create table declines (
    charge       text primary key,
    donation_id  blob not null,
    nonprofit_id blob not null,
    network      text,
    -- The fingerprint that the provider gives to a card. It says nothing about its number.
    card         text,
    declined_at  integer not null
) strict;

create index declines_nonprofit on declines (nonprofit_id, declined_at);
create index declines_network on declines (network, declined_at) where network is not null;
create index declines_card on declines (card, declined_at) where card is not null;
create index declines_time on declines (declined_at);
