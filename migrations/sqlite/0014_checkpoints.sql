-- The previous version may run beside this migration.
-- Up to where `causeway check` has verified the ledger, and the sums that the next check continues from. The HMAC with
-- the secret of the store covers the row.
create table ledger_checkpoint (
    id         integer primary key,
    entries    integer not null,
    hash       blob not null,
    -- The sums of each fundraiser, as JSON.
    sums       text not null,
    checked_at integer not null,
    mac        blob not null
) strict;

-- The last anchor that was written to every place, and when a server last claimed to write one.
create table ledger_anchor (
    id         integer primary key,
    entries    integer not null,
    hash       blob not null,
    written_at integer not null,
    claimed_at integer not null
) strict;

insert into ledger_anchor (id, entries, hash, written_at, claimed_at) values (1, 0, zeroblob(32), 0, 0);

-- Anchors of entries that are lost, which an operator has accepted (causeway anchor accept-loss). The HMAC with the secret
-- of the store covers the anchor.
create table accepted_anchors (
    entries     integer not null,
    hash        blob not null,
    accepted_at integer not null,
    mac         blob not null,
    primary key (entries, hash)
) strict;
