-- The previous version may run beside this migration.
-- Up to where `causeway check` has verified the ledger, and the sums that the next check continues from. The HMAC with
-- the secret of the store covers the row.
create table ledger_checkpoint (
    id         bigint primary key,
    entries    bigint not null,
    hash       bytea not null,
    -- The sums of each fundraiser, as JSON.
    sums       text not null,
    checked_at bigint not null,
    mac        bytea not null
);

-- The last anchor that was written to every place, and when a server last claimed to write one.
create table ledger_anchor (
    id         bigint primary key,
    entries    bigint not null,
    hash       bytea not null,
    written_at bigint not null,
    claimed_at bigint not null
);

insert into ledger_anchor (id, entries, hash, written_at, claimed_at) values (1, 0, decode(repeat('00', 32), 'hex'), 0, 0);

-- Anchors of entries that are lost, which an operator has accepted (causeway anchor accept-loss). The HMAC with the secret
-- of the store covers the anchor.
create table accepted_anchors (
    entries     bigint not null,
    hash        bytea not null,
    accepted_at bigint not null,
    mac         bytea not null,
    primary key (entries, hash)
);
