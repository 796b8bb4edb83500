create table accounts (
    id         uuid primary key,
    username   text not null unique,
    email      text,
    operator   boolean not null,
    created_at bigint not null
);

-- A public key stands here as it is; of a private key only its SHA-256. `address_limit` is the number of calls per
-- minute that its owner allows one address; without it, addresses have no limit of their own.
create table keys (
    id         uuid primary key,
    account_id uuid not null references accounts (id),
    kind       text not null,
    name       text not null,
    public_key text unique,
    hash       bytea not null unique,
    address_limit bigint,
    created_at bigint not null,
    revoked_at bigint,
    blocked_at bigint,
    exposed_at bigint,
    revision   bigint not null
);

create index keys_revision on keys (revision);
create index keys_account on keys (account_id);

-- Calls a minute that an operator granted to one key, where they differ from the configuration.
create table key_limits (
    key_id     uuid not null references keys (id),
    class      text not null,
    per_minute bigint not null,
    primary key (key_id, class)
);
