-- Stop the previous version before this migration: it ignores when a rotated key expires.

-- When a rotated key expires, why a key is blocked (shown to its owner), and when its owner was emailed that it was
-- exposed (once).
alter table keys add column ends_at bigint;
alter table keys add column block_reason text;
alter table keys add column exposed_mailed_at bigint;

-- Calls that the rate limits admitted in the last minute, by key (by account for creating fundraisers), class and second
-- since the Unix epoch. For the class `address`, the ID is a keyed hash of the key and the address. A server reads them
-- when it starts, so that a restart does not reset the limits. Several servers add to the same rows.
create table recent_calls (
    counted_id uuid not null,
    class      text not null,
    second     bigint not null,
    calls      bigint not null,
    primary key (counted_id, class, second)
);

-- The usage of each key by hour. `calls` counts all calls that were checked against a rate limit, including those that
-- it refused and those that failed with an error.
create table key_usage (
    key_id   uuid not null,
    hour     bigint not null,
    class    text not null,
    calls    bigint not null,
    refused  bigint not null,
    errors   bigint not null,
    last_at  bigint not null,
    primary key (key_id, hour, class)
);

create index key_usage_hour on key_usage (hour);

-- The audit log: every action of an operator. Actions on the command line have no actor.
create table audit (
    id       uuid primary key,
    at       bigint not null,
    actor_id uuid,
    act      text not null,
    subject  text not null,
    detail   text not null
);
