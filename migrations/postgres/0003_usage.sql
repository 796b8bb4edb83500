-- A rolled key ends by itself; the owner is told why a key is blocked, and once that one was exposed.
alter table keys add column ends_at bigint;
alter table keys add column block_reason text;
alter table keys add column exposed_mailed_at bigint;

-- Calls of the last minute that limits let through, by key (or account, for creating), class and second since 1970.
-- For the class `address` the ID is a hash of a key and an address.
-- A server that starts counts them, so that starting anew is no way to a second quota. Servers add to each other's rows.
create table recent_calls (
    counted_id uuid not null,
    class      text not null,
    second     bigint not null,
    calls      bigint not null,
    primary key (counted_id, class, second)
);

-- What each key was used for, hour by hour. `calls` are all calls that a limit judged, those it refused and those
-- that ended in an error among them.
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

-- Every act of an operator. Without an actor it was made on the command line.
create table audit (
    id       uuid primary key,
    at       bigint not null,
    actor_id uuid,
    act      text not null,
    subject  text not null,
    detail   text not null
);
