-- The previous version may run beside this migration.

create table fundraisers (
    id           uuid primary key,
    -- The nonprofit that it benefits, or the ID of `special-fundraiser` if there are several.
    nonprofit_id uuid not null,
    slug         text not null,
    -- The creator. The account may have been deleted, so this is not a foreign key.
    account_id   uuid not null,
    title        text not null,
    description  text,
    -- The ID of the uploaded cover picture; null if the cover is generated.
    cover        text,
    starts_at    bigint,
    ends_at      bigint,
    goal         bigint,
    -- The amount raised elsewhere, as reported by the creator: the sum of its offline entries in the ledger.
    offline      bigint,
    created_at   bigint not null,
    closed_at    bigint,
    -- The number of changes, which is the last version in its history.
    version      bigint not null
);

create unique index fundraisers_slug on fundraisers (nonprofit_id, slug);
create index fundraisers_account on fundraisers (account_id, created_at);
create index fundraisers_cover on fundraisers (cover) where cover is not null;

-- The nonprofits that a fundraiser benefits, in the order given by its creator. They never change.
create table fundraiser_nonprofits (
    fundraiser_id uuid not null references fundraisers (id),
    position      bigint not null,
    nonprofit_id  uuid not null,
    weight        double precision not null,
    primary key (fundraiser_id, position)
);

-- Every change of a fundraiser, as JSON: the old and the new value of each field.
create table fundraiser_history (
    fundraiser_id uuid not null references fundraisers (id),
    version       bigint not null,
    -- Who made the change; null for the command line.
    account_id    uuid,
    change        text not null,
    changed_at    bigint not null,
    primary key (fundraiser_id, version)
);

-- The ends of the ledger and the outbox. Whoever appends to them locks this row, so sequence numbers have no gaps and
-- follow the order of commits.
create table journal_head (
    id      bigint primary key,
    entries bigint not null,
    hash    bytea not null,
    events  bigint not null
);

insert into journal_head (id, entries, hash, events) values (1, 0, decode(repeat('00', 32), 'hex'), 0);

-- The entries of the ledger, append-only. Each hash covers the entry and the previous hash. `raised` and `supporters` are
-- the totals of the fundraiser in the mode of the entry, after the entry.
create table journal (
    sequence      bigint primary key,
    kind          text not null,
    -- `live`, or `test` if no money was charged.
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

-- The postings of each entry. They add up to zero.
create table journal_legs (
    sequence bigint not null,
    position bigint not null,
    party    text not null,
    party_id text not null,
    amount   bigint not null,
    primary key (sequence, position)
);

-- Names of donors, stored outside the ledger so that they can be erased. A name is public only with consent.
create table donor_names (
    sequence     bigint primary key,
    name         text not null,
    consented_at bigint
);

-- Events about donations and fundraisers. Servers read them to refresh their caches.
create table outbox (
    sequence      bigint primary key,
    kind          text not null,
    fundraiser_id uuid,
    body          text not null,
    created_at    bigint not null
);

-- The first response to each create request with an `Idempotency-Key`, kept for 24 hours.
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
