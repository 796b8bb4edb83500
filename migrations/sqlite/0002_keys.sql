-- The previous version may run beside this migration.

create table accounts (
    id         blob primary key,
    username   text not null unique,
    email      text,
    operator   integer not null,
    created_at integer not null
) strict;

-- Public keys are stored in plain text, private keys only as SHA-256 hashes. `address_limit` is the number of calls per
-- minute that the owner of a key allows from one address; null means no limit per address.
create table keys (
    id         blob primary key,
    account_id blob not null references accounts (id),
    kind       text not null,
    name       text not null,
    public_key text unique,
    hash       blob not null unique,
    address_limit integer,
    created_at integer not null,
    revoked_at integer,
    blocked_at integer,
    exposed_at integer,
    revision   integer not null
) strict;

create index keys_revision on keys (revision);
create index keys_account on keys (account_id);

-- Limits in calls per minute that an operator set for one key. They override the settings.
create table key_limits (
    key_id     blob not null references keys (id),
    class      text not null,
    per_minute integer not null,
    primary key (key_id, class)
) strict, without rowid;
