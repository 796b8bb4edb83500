create table fundraisers (
    id           uuid primary key,
    -- The nonprofit supported; the special one where there are several.
    nonprofit_id uuid not null,
    slug         text not null,
    -- Who made it. The account may be gone, so nothing ties the two.
    account_id   uuid not null,
    title        text not null,
    description  text,
    -- The hosted picture; none where a cover is drawn.
    cover        text,
    starts_at    bigint,
    ends_at      bigint,
    goal         bigint,
    -- What its creator told of money that came in elsewhere: the sum of such entries of the journal.
    offline      bigint,
    created_at   bigint not null,
    closed_at    bigint,
    -- How often it was changed: the last version of its history.
    version      bigint not null
);

create unique index fundraisers_slug on fundraisers (nonprofit_id, slug);
create index fundraisers_account on fundraisers (account_id, created_at);

-- Whom a fundraiser supports, in the order given; they never change. One row where it supports one.
create table fundraiser_nonprofits (
    fundraiser_id uuid not null references fundraisers (id),
    position      bigint not null,
    nonprofit_id  uuid not null,
    weight        double precision not null,
    primary key (fundraiser_id, position)
);

-- Every change, as JSON: what each field was and what it became.
create table fundraiser_history (
    fundraiser_id uuid not null references fundraisers (id),
    version       bigint not null,
    -- Who changed it; null for the command line.
    account_id    uuid,
    change        text not null,
    changed_at    bigint not null,
    primary key (fundraiser_id, version)
);

-- Where the journal and the outbox end. Whoever adds to them holds this row, so their numbers have no gaps and are
-- given in the order of commits.
create table journal_head (
    id      bigint primary key,
    entries bigint not null,
    hash    bytea not null,
    events  bigint not null
);

insert into journal_head (id, entries, hash, events) values (1, 0, decode(repeat('00', 32), 'hex'), 0);

-- Append-only. Each hash covers the entry and the hash before it; raised and supporters are what the fundraiser stands
-- at after the entry.
create table journal (
    sequence      bigint primary key,
    kind          text not null,
    -- live, or test where no money was charged.
    mode          text not null,
    source        text not null,
    external_id   text not null,
    nonprofit_id  uuid not null,
    fundraiser_id uuid,
    donor         text,
    amount        bigint not null,
    refunds       bigint,
    recorded_at   bigint not null,
    raised        bigint,
    supporters    bigint,
    hash          bytea not null
);

create unique index journal_external on journal (source, external_id);
create index journal_fundraiser on journal (fundraiser_id, mode, sequence);
create index journal_donor on journal (fundraiser_id, mode, donor, amount);
create index journal_refunds on journal (refunds);

-- The sides of each entry; they add up to zero.
create table journal_legs (
    sequence bigint not null,
    position bigint not null,
    party    text not null,
    party_id text not null,
    amount   bigint not null,
    primary key (sequence, position)
);

-- Names of donors, apart from the journal so that they can be erased. Public only with consent.
create table donor_names (
    sequence     bigint primary key,
    name         text not null,
    consented_at bigint
);

-- Every fact, for those who are to be told of it later, and for servers that keep fundraisers in memory.
create table outbox (
    sequence      bigint primary key,
    kind          text not null,
    fundraiser_id uuid,
    body          text not null,
    created_at    bigint not null
);

-- The first answer to a create, for 24 hours.
create table idempotency_keys (
    account_id uuid not null,
    name       text not null,
    hash       bytea not null,
    location   text not null,
    body       text not null,
    created_at bigint not null,
    primary key (account_id, name)
);

create index idempotency_keys_age on idempotency_keys (created_at);
