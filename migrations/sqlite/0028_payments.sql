-- The previous version may run beside this migration.

-- The payment of a donation, as its provider knows it. session: the page of Stripe where it is paid. attempt: how many
-- sessions could not be created; it is a part of the idempotency key of the next one. charge: the provider's ID of the charge
-- that paid it. paid_at: when that charge was made, in milliseconds. check_at: when the provider is asked again what became of
-- the payment; null if there is nothing to ask. checks: how often it was asked.
alter table donations add column session text;
alter table donations add column attempt integer not null default 0;
alter table donations add column charge text;
alter table donations add column paid_at integer;
alter table donations add column check_at integer;
alter table donations add column checks integer not null default 0;
-- The part of the amount that covers the fee, and whether the nonprofit may learn the donor's name and email address.
alter table donations add column covered integer not null default 0;
alter table donations add column shares_contact integer not null default 0;

create unique index donations_charge on donations (charge) where charge is not null;
create index donations_check on donations (check_at) where check_at is not null;

-- The events that providers sent. An event is stored before it is acknowledged, and never handled twice. It says only that an
-- object has changed: the object itself, which may name the donor, is not kept.
create table provider_events (
    provider    text not null,
    id          text not null,
    kind        text not null,
    -- The ID of the object that the event is about.
    object      text not null,
    donation_id blob,
    livemode    integer not null,
    created_at  integer not null,
    received_at integer not null,
    -- Null while it has yet to be handled.
    handled_at  integer,
    -- When it is tried again, how often it was tried, and why that failed.
    retry_at    integer,
    tries       integer not null default 0,
    error       text,
    primary key (provider, id)
) strict;

create index provider_events_open on provider_events (retry_at) where handled_at is null;
create index provider_events_received on provider_events (received_at);
create index provider_events_donation on provider_events (donation_id, received_at) where donation_id is not null;

-- What the provider and the ledger say differently, until an operator explains it.
create table payment_differences (
    -- What differs, and the ID of the object at the provider.
    kind         text not null,
    object       text not null,
    livemode     integer not null,
    donation_id  blob,
    amount       integer not null,
    detail       text not null,
    found_at     integer not null,
    explained_at integer,
    note         text,
    primary key (object, kind)
) strict;

create index payment_differences_open on payment_differences (found_at) where explained_at is null;

-- One row for each comparison of the ledger with the balance transactions of the provider.
create table reconciliations (
    livemode       integer not null,
    -- The compared period, in seconds.
    since          integer not null,
    until          integer not null,
    transactions   integer not null,
    entered        integer not null,
    differences    integer not null,
    balance        integer not null,
    ledger_balance integer not null,
    finished_at    integer not null,
    primary key (finished_at, livemode)
) strict;

-- Disputes and inquiries of donors' banks, as the provider last reported them.
create table disputes (
    id          text primary key,
    donation_id blob not null,
    amount      integer not null,
    reason      text not null,
    status      text not null,
    -- When the operator has to respond, in seconds.
    due_by      integer,
    opened_at   integer not null,
    changed_at  integer not null
) strict;

create index disputes_donation on disputes (donation_id);
create index disputes_status on disputes (status, due_by);
create index disputes_open on disputes (opened_at) where status not in ('won', 'lost', 'warning_closed', 'prevented');

-- Refunds that an operator asked for. The ID is the idempotency key, so a call whose answer was lost is repeated and not made
-- twice. A donation has one at a time.
create table refund_requests (
    id          blob primary key,
    donation_id blob not null,
    amount      integer not null,
    asked_at    integer not null,
    -- Null until the provider has answered.
    answered_at integer,
    -- The provider's ID of the refund, or why there is none.
    refund      text,
    error       text
) strict;

create unique index refund_requests_open on refund_requests (donation_id) where answered_at is null;
create index refund_requests_donation on refund_requests (donation_id, asked_at);
create index refund_requests_waiting on refund_requests (asked_at) where answered_at is null;
