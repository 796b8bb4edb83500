-- The previous version may run beside this migration.

create table accounts (
    id         uuid primary key,
    username   text not null unique,
    email      text,
    operator   boolean not null,
    created_at bigint not null
);

-- Public keys are stored in plain text, private keys only as SHA-256 hashes. `address_limit` is the number of calls per
-- minute that the owner of a key allows from one address; null means no limit per address.
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

-- Limits in calls per minute that an operator set for one key. They override the settings.
create table key_limits (
    key_id     uuid not null references keys (id),
    class      text not null,
    per_minute bigint not null,
    primary key (key_id, class)
);
