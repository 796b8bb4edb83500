-- Stop the previous version before this migration: it ignores that an account was deleted.

-- The Argon2 hash of the password. The owner of an account without one sets it through an emailed link.
alter table accounts add column password text;
-- When the owner confirmed the email address. Required to sign in if sign-up is restricted to email domains.
alter table accounts add column confirmed_at integer;
-- Only the ID of a deleted account is kept, because its fundraisers refer to it.
alter table accounts add column deleted_at integer;

create index accounts_email on accounts (email);

-- Active sessions, by the SHA-256 hash of their cookie.
create table sessions (
    hash       blob primary key,
    account_id blob not null references accounts (id),
    created_at integer not null,
    seen_at    integer not null,
    agent      text not null
) strict;

create index sessions_account on sessions (account_id);

-- Emailed links, by the SHA-256 hash of their token. Each works once.
create table mail_links (
    hash       blob primary key,
    account_id blob not null references accounts (id),
    purpose    text not null,
    created_at integer not null
) strict;

create index mail_links_account on mail_links (account_id);
