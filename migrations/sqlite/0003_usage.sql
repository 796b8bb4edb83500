-- Stop the previous version before this migration: it ignores when a rotated key expires.

-- When a rotated key expires, why a key is blocked (shown to its owner), and when its owner was emailed that it was
-- exposed (once).
alter table keys add column ends_at integer;
alter table keys add column block_reason text;
alter table keys add column exposed_mailed_at integer;

-- Calls that the rate limits admitted in the last minute, by key (by account for creating fundraisers), class and second
-- since the Unix epoch. For the class `address`, the ID is a keyed hash of the key and the address. A server reads them
-- when it starts, so that a restart does not reset the limits. Several servers add to the same rows.
create table recent_calls (
    counted_id blob not null,
    class      text not null,
    second     integer not null,
    calls      integer not null,
    primary key (counted_id, class, second)
) strict, without rowid;

-- The usage of each key by hour. `calls` counts all calls that were checked against a rate limit, including those that
-- it refused and those that failed with an error.
create table key_usage (
    key_id   blob not null,
    hour     integer not null,
    class    text not null,
    calls    integer not null,
    refused  integer not null,
    errors   integer not null,
    last_at  integer not null,
    primary key (key_id, hour, class)
) strict, without rowid;

create index key_usage_hour on key_usage (hour);

-- The audit log: every action of an operator. Actions on the command line have no actor.
create table audit (
    id       blob primary key,
    at       integer not null,
    actor_id blob,
    act      text not null,
    subject  text not null,
    detail   text not null
) strict;
