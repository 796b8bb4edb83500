-- The previous version may run beside this migration.

-- The account whose link brought the donation: the link had the token of one of its webhook endpoints.
alter table donations add column partner_account uuid;

create index donations_partner on donations (partner_account, entry) where partner_account is not null;

-- Where partners want to be told about events.
create table webhook_endpoints (
    id              uuid primary key,
    account_id      uuid not null references accounts (id),
    url             text not null,
    description     text not null,
    -- The names of the events, separated by spaces.
    events          text not null,
    format          text not null,
    -- The public token of links whose donations belong to the account.
    token           text not null unique,
    -- Encrypted: the secret with which messages are signed, the one before until it ends, and the value of a fixed
    -- `Authorization: Bearer` header.
    secret          bytea not null,
    old_secret      bytea,
    old_secret_ends bigint,
    bearer          bytea,
    -- enabled, failing or disabled.
    status          text not null,
    reason          text not null,
    -- The failures since the last success, and when the first of them was.
    failures        bigint not null,
    failing_since   bigint,
    succeeded_at    bigint,
    -- When there is something to send next.
    due_at          bigint,
    -- Events after the first number up to the second are queued again.
    replay_after    bigint,
    replay_until    bigint,
    created_at      bigint not null,
    changed_at      bigint not null,
    disabled_at     bigint,
    -- Its deliveries are removed in the background.
    deleted_at      bigint
);

create index webhook_endpoints_account on webhook_endpoints (account_id, created_at) where deleted_at is null;
create index webhook_endpoints_due on webhook_endpoints (due_at)
    where due_at is not null and status <> 'disabled' and deleted_at is null;
create index webhook_endpoints_replays on webhook_endpoints (replay_until) where replay_until is not null;
create index webhook_endpoints_deleted on webhook_endpoints (deleted_at) where deleted_at is not null;
create index webhook_endpoints_disabled on webhook_endpoints (disabled_at) where disabled_at is not null;

-- What accounts are told: for each row of the outbox and each import, one row for each account that may see it. Numbers have no
-- gaps and are known to nobody else; the ID is random, so that a restored database never gives one away twice.
create table events (
    sequence      bigint primary key,
    id            text not null unique,
    -- Null if every account sees it.
    account_id    uuid,
    kind          text not null,
    -- What it is about. Events of one subject are delivered in order.
    subject       text not null,
    entry         bigint,
    fundraiser_id uuid,
    nonprofit_id  uuid,
    endpoint_id   uuid,
    -- What cannot be read from elsewhere later.
    detail        text not null,
    -- Grows with each event of a subject.
    occurred_at   bigint not null,
    recorded_at   bigint not null
);

create index events_account on events (account_id, sequence);
create index events_subject on events (subject, sequence);
create index events_recorded on events (recorded_at);

-- Where events come from, and how far they were read.
create table event_sources (
    id        bigint primary key check (id = 1),
    -- The last event.
    last      bigint not null,
    -- The last row of the outbox, and the last import.
    outbox    bigint not null,
    directory bigint not null
);

insert into event_sources (id, last, outbox, directory)
    select 1, 0, events, (select coalesce(max(revision), 0) from imports) from ledger_head where id = 1;

-- The events that an endpoint gets.
create table webhook_deliveries (
    id          uuid primary key,
    endpoint_id uuid not null,
    -- The number of the event, and what it is about.
    sequence    bigint not null,
    subject     text not null,
    kind        text not null,
    -- waiting, delivered or failed.
    state       text not null,
    -- The next attempt, or when the one in progress has lapsed. Null while an earlier event of the subject waits.
    due_at      bigint,
    -- The attempt in progress.
    lease       uuid,
    attempts    bigint not null,
    -- The outcome of the last attempt.
    status      bigint,
    error       text,
    duration    bigint,
    queued_at   bigint not null,
    attempted_at bigint,
    finished_at bigint
);

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
    delivery_id uuid not null,
    number      bigint not null,
    at          bigint not null,
    status      bigint,
    error       text,
    duration    bigint not null,
    answer      text not null,
    primary key (delivery_id, number)
);

create index webhook_attempts_at on webhook_attempts (at);
