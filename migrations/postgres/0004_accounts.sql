-- Stop the previous version before this migration: it ignores that an account was deleted.

-- The Argon2 hash of the password. The owner of an account without one sets it through an emailed link.
alter table accounts add column password text;
-- When the owner confirmed the email address. Required to sign in if sign-up is restricted to email domains.
alter table accounts add column confirmed_at bigint;
-- Only the ID of a deleted account is kept, because its fundraisers refer to it.
alter table accounts add column deleted_at bigint;

create index accounts_email on accounts (email);

-- Active sessions, by the SHA-256 hash of their cookie.
create table sessions (
    hash       bytea primary key,
    account_id uuid not null references accounts (id),
    created_at bigint not null,
    seen_at    bigint not null,
    agent      text not null
);

create index sessions_account on sessions (account_id);

-- Emailed links, by the SHA-256 hash of their token. Each works once.
create table mail_links (
    hash       bytea primary key,
    account_id uuid not null references accounts (id),
    purpose    text not null,
    created_at bigint not null
);

create index mail_links_account on mail_links (account_id);
