-- The previous version may run beside this migration.

-- The part of an uploaded cover that stays visible where it is cropped: two percentages, from the left and from the top, such as
-- `25 50`. Null for the center.
alter table fundraisers add column cover_focus text;

-- When the organizer of its fundraiser thanked for a donation by email, or when that was left out because the donor does not want
-- such emails.
alter table donations add column thanked_at bigint;

create index donations_to_thank on donations (fundraiser_id, mailbox, entry)
    where thanked_at is null and mailbox is not null and fundraiser_id is not null and state = 'completed';

-- The messages with which organizers thank donors. They are sent in the background, to one mailbox after another.
create table thank_yous (
    id            uuid primary key,
    fundraiser_id uuid not null,
    account_id    uuid not null,
    message       text not null,
    -- It is for donations up to this entry of the ledger.
    entry         bigint not null,
    -- The donors that were emailed so far.
    sent          bigint not null,
    created_at    bigint not null,
    -- Null while there are donors left.
    finished_at   bigint
);

create index thank_yous_fundraiser on thank_yous (fundraiser_id, created_at);
create index thank_yous_open on thank_yous (created_at) where finished_at is null;

-- The mailboxes that no organizer can email, as an HMAC from which nobody can learn the address.
create table stopped_thanks (
    mailbox    text primary key,
    stopped_at bigint not null
);
