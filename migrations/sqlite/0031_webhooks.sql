-- The previous version may run beside this migration.

-- The account whose link brought the donation: the link had the token of one of its webhook endpoints.
alter table donations add column partner_account blob;

create index donations_partner on donations (partner_account, entry) where partner_account is not null;

-- Where partners want to be told about events.
create table webhook_endpoints (
    id              blob primary key,
    account_id      blob not null references accounts (id),
    url             text not null,
    description     text not null,
    -- The names of the events, separated by spaces.
    events          text not null,
    format          text not null,
    -- The public token of links whose donations belong to the account.
    token           text not null unique,
    -- Encrypted: the secret with which messages are signed, the one before until it ends, and the value of a fixed
    -- `Authorization: Bearer` header.
    secret          blob not null,
    old_secret      blob,
    old_secret_ends integer,
    bearer          blob,
    -- enabled, failing or disabled.
    status          text not null,
    reason          text not null,
    -- The failures since the last success, and when the first of them was.
    failures        integer not null,
    failing_since   integer,
    succeeded_at    integer,
    -- When there is something to send next.
    due_at          integer,
    -- Events after the first number up to the second are queued again.
    replay_after    integer,
    replay_until    integer,
    created_at      integer not null,
    changed_at      integer not null,
    disabled_at     integer,
    -- Its deliveries are removed in the background.
    deleted_at      integer
) strict;

create index webhook_endpoints_account on webhook_endpoints (account_id, created_at) where deleted_at is null;
create index webhook_endpoints_due on webhook_endpoints (due_at)
    where due_at is not null and status <> 'disabled' and deleted_at is null;
create index webhook_endpoints_replays on webhook_endpoints (replay_until) where replay_until is not null;
create index webhook_endpoints_deleted on webhook_endpoints (deleted_at) where deleted_at is not null;
create index webhook_endpoints_disabled on webhook_endpoints (disabled_at) where disabled_at is not null;

-- What accounts are told: for each row of the outbox and each import, one row for each account that may see it. Numbers have no
-- gaps and are known to nobody else; the ID is random, so that a restored database never gives one away twice.
create table events (
    sequence      integer primary key,
    id            text not null unique,
    -- Null if every account sees it.
    account_id    blob,
    kind          text not null,
    -- What it is about. Events of one subject are delivered in order.
    subject       text not null,
    entry         integer,
    fundraiser_id blob,
    nonprofit_id  blob,
    endpoint_id   blob,
    -- What cannot be read from elsewhere later.
    detail        text not null,
    -- Grows with each event of a subject.
    occurred_at   integer not null,
    recorded_at   integer not null
) strict;

create index events_account on events (account_id, sequence);
create index events_subject on events (subject, sequence);
create index events_recorded on events (recorded_at);

-- Where events come from, and how far they were read.
create table event_sources (
    id        integer primary key check (id = 1),
    -- The last event.
    last      integer not null,
    -- The last row of the outbox, and the last import.
    outbox    integer not null,
    directory integer not null
) strict;

insert into event_sources (id, last, outbox, directory)
    select 1, 0, events, (select coalesce(max(revision), 0) from imports) from ledger_head where id = 1;

-- The events that an endpoint gets.
create table webhook_deliveries (
    id          blob primary key,
    endpoint_id blob not null,
    -- The number of the event, and what it is about.
    sequence    integer not null,
    subject     text not null,
    kind        text not null,
    -- waiting, delivered or failed.
    state       text not null,
    -- The next attempt, or when the one in progress has lapsed. Null while an earlier event of the subject waits.
    due_at      integer,
    -- The attempt in progress.
    lease       blob,
    attempts    integer not null,
    -- The outcome of the last attempt.
    status      integer,
    error       text,
    duration    integer,
    queued_at   integer not null,
    attempted_at integer,
    finished_at integer
) strict;

create unique index webhook_deliveries_event on webhook_deliveries (endpoint_id, sequence);
-- An endpoint never gets two events of one subject at the same time.
create unique index webhook_deliveries_subject on webhook_deliveries (subject, endpoint_id) where due_at is not null;
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_at, sequence) where due_at is not null;
create index webhook_deliveries_oldest on webhook_deliveries (endpoint_id, sequence) where due_at is not null;
create index webhook_deliveries_waiting on webhook_deliveries (endpoint_id, subject, sequence) where state = 'waiting';
create index webhook_deliveries_leased on webhook_deliveries (endpoint_id, due_at) where lease is not null;
create index webhook_deliveries_finished on webhook_deliveries (finished_at) where finished_at is not null;

-- Attempts to deliver an event, with the beginning of the answer.
create table webhook_attempts (
    delivery_id blob not null,
    number      integer not null,
    at          integer not null,
    status      integer,
    error       text,
    duration    integer not null,
    answer      text not null,
    primary key (delivery_id, number)
) strict;

create index webhook_attempts_at on webhook_attempts (at);
