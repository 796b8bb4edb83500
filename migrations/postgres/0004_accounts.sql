-- How its owner signs in: an Argon2 hash. An account without one sets it by a mail.
alter table accounts add column password text;
-- When the owner proved to read mail at the address; sign-in waits for it where mail domains are limited.
alter table accounts add column confirmed_at bigint;
-- A deleted account keeps its id, for what it left behind, and nothing else.
alter table accounts add column deleted_at bigint;

create index accounts_email on accounts (email);

-- Who is signed in, by the SHA-256 of the cookie.
create table sessions (
    hash       bytea primary key,
    account_id uuid not null references accounts (id),
    created_at bigint not null,
    seen_at    bigint not null,
    agent      text not null
);

create index sessions_account on sessions (account_id);

-- Links that were mailed, by the SHA-256 of what they hold; each works once.
create table mail_links (
    hash       bytea primary key,
    account_id uuid not null references accounts (id),
    purpose    text not null,
    created_at bigint not null
);

create index mail_links_account on mail_links (account_id);
