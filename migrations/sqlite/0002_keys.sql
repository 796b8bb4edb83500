create table accounts (
    id         blob primary key,
    username   text not null unique,
    email      text,
    operator   integer not null,
    created_at integer not null
) strict;

-- A public key stands here as it is; of a private key only its SHA-256. `address_limit` is the number of calls per
-- minute that its owner allows one address; without it, addresses have no limit of their own.
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

-- Calls a minute that an operator granted to one key, where they differ from the configuration.
create table key_limits (
    key_id     blob not null references keys (id),
    class      text not null,
    per_minute integer not null,
    primary key (key_id, class)
) strict, without rowid;
