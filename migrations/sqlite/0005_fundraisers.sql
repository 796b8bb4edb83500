create table fundraisers (
    id           blob primary key,
    -- The nonprofit supported; the special one where there are several.
    nonprofit_id blob not null,
    slug         text not null,
    -- Who made it. The account may be gone, so nothing ties the two.
    account_id   blob not null,
    title        text not null,
    description  text,
    -- The hosted picture; none where a cover is drawn.
    cover        text,
    starts_at    integer,
    ends_at      integer,
    goal         integer,
    -- What its creator told of money that came in elsewhere: the sum of such entries of the journal.
    offline      integer,
    created_at   integer not null,
    closed_at    integer,
    -- How often it was changed: the last version of its history.
    version      integer not null
) strict;

create unique index fundraisers_slug on fundraisers (nonprofit_id, slug);
create index fundraisers_account on fundraisers (account_id, created_at);

-- Whom a fundraiser supports, in the order given; they never change. One row where it supports one.
create table fundraiser_nonprofits (
    fundraiser_id blob not null references fundraisers (id),
    position      integer not null,
    nonprofit_id  blob not null,
    weight        real not null,
    primary key (fundraiser_id, position)
) strict, without rowid;

-- Every change, as JSON: what each field was and what it became.
create table fundraiser_history (
    fundraiser_id blob not null references fundraisers (id),
    version       integer not null,
    -- Who changed it; null for the command line.
    account_id    blob,
    change        text not null,
    changed_at    integer not null,
    primary key (fundraiser_id, version)
) strict, without rowid;

-- Where the journal and the outbox end. Whoever adds to them holds this row, so their numbers have no gaps and are
-- given in the order of commits.
create table journal_head (
    id      integer primary key,
    entries integer not null,
    hash    blob not null,
    events  integer not null
) strict;

insert into journal_head (id, entries, hash, events) values (1, 0, zeroblob(32), 0);

-- Append-only. Each hash covers the entry and the hash before it; raised and supporters are what the fundraiser stands
-- at after the entry.
create table journal (
    sequence      integer primary key,
    kind          text not null,
    -- live, or test where no money was charged.
    mode          text not null,
    source        text not null,
    external_id   text not null,
    nonprofit_id  blob not null,
    fundraiser_id blob,
    donor         text,
    amount        integer not null,
    refunds       integer,
    recorded_at   integer not null,
    raised        integer,
    supporters    integer,
    hash          blob not null
) strict;

create unique index journal_external on journal (source, external_id);
create index journal_fundraiser on journal (fundraiser_id, mode, sequence);
create index journal_donor on journal (fundraiser_id, mode, donor, amount);
create index journal_refunds on journal (refunds);

-- The sides of each entry; they add up to zero.
create table journal_legs (
    sequence integer not null,
    position integer not null,
    party    text not null,
    party_id text not null,
    amount   integer not null,
    primary key (sequence, position)
) strict, without rowid;

-- Names of donors, apart from the journal so that they can be erased. Public only with consent.
create table donor_names (
    sequence     integer primary key,
    name         text not null,
    consented_at integer
) strict;

-- Every fact, for those who are to be told of it later, and for servers that keep fundraisers in memory.
create table outbox (
    sequence      integer primary key,
    kind          text not null,
    fundraiser_id blob,
    body          text not null,
    created_at    integer not null
) strict;

-- The first answer to a create, for 24 hours.
create table idempotency_keys (
    account_id blob not null,
    name       text not null,
    hash       blob not null,
    location   text not null,
    body       text not null,
    created_at integer not null,
    primary key (account_id, name)
) strict, without rowid;

create index idempotency_keys_age on idempotency_keys (created_at);
