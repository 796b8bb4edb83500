-- Stop the previous version before this migration: it signs people in without their second factor.

-- Two-factor sign-in. The secret of the authenticator app is encrypted with the secret of the store. Until `enabled_at`
-- is set, it waits for a first code. Codes of `last_step` (30 seconds each, since the Unix epoch) and before are used.
create table two_factor (
    account_id uuid primary key references accounts (id),
    secret     bytea not null,
    created_at bigint not null,
    enabled_at bigint,
    last_step  bigint not null
);

-- Recovery codes that are not used yet, as HMACs with the secret of the store.
create table recovery_codes (
    account_id uuid not null references accounts (id),
    hash       bytea not null,
    primary key (account_id, hash)
);

-- The address from which a session began.
alter table sessions add column address text not null default '';
-- The new email address that a link confirms.
alter table mail_links add column email text;
-- The last four characters of a private key, by which its owner recognizes it.
alter table keys add column last_four text;
