-- The previous version may run beside this migration.

-- What nonprofits say about themselves. It is shown instead of what was imported, and an import never changes it.
create table own_fields (
    nonprofit_id uuid not null,
    -- `description`, `mission`, `website`, `causes`, `logo`, `cover` or `thanks`; `consent` while it consents to be listed, and
    -- `closed` while it receives no donations at its own request.
    field        text not null,
    value        text not null,
    stated_at    bigint not null,
    account_id   uuid not null,
    primary key (nonprofit_id, field)
);

create index own_fields_picture on own_fields (value) where field in ('logo', 'cover');

-- People who claim to act for a nonprofit. Rows are kept, so the newest one of an account says what became of it.
create table claims (
    id            uuid primary key,
    nonprofit_id  uuid not null,
    account_id    uuid not null,
    -- `requested`, `proven`, `approved`, `rejected`, `withdrawn` or `revoked`.
    state         text not null,
    -- `administrator` or `editor`.
    role          text not null,
    -- `domain`, `email`, `document` or `invitation`.
    proof         text not null,
    -- The domain of the filed website when the claim was made. Null if it is not proven by that.
    domain        text,
    -- What the DNS record or the file contains, or the address to which the link was sent.
    evidence      text,
    -- The name and the position of the person.
    person        text not null,
    position      text not null,
    created_at    bigint not null,
    proven_at     bigint,
    decided_at    bigint,
    -- Who decided. Null if nobody had to.
    decided_by    uuid,
    -- The reason, which the person sees.
    note          text not null,
    -- The encrypted file that shows that the person acts for the nonprofit, until 30 days after the decision.
    document      bytea
);

create unique index claims_open on claims (nonprofit_id, account_id)
    where state in ('requested', 'proven', 'approved');
create index claims_account on claims (account_id, created_at);
create index claims_approved on claims (nonprofit_id) where state = 'approved';
create index claims_waiting on claims (created_at, id) where state in ('requested', 'proven');
create index claims_documents on claims (decided_at) where document is not null;

-- Links that prove an email address of a claim, or invite somebody. Only the hash of the token is stored, and a link works
-- once.
create table claim_links (
    hash         bytea primary key,
    nonprofit_id uuid not null,
    -- The claim that the link proves. Null for an invitation.
    claim_id     uuid,
    -- The role of whoever is invited, and the address. Null for a proof.
    role         text,
    email        text,
    created_by   uuid not null,
    created_at   bigint not null
);

create index claim_links_nonprofit on claim_links (nonprofit_id, created_at);
create index claim_links_old on claim_links (created_at);

-- One row per nonprofit that was ever claimed. It is locked by every decision, so that of two claimants at the same time
-- the second one sees the first.
create table claimed_nonprofits (
    nonprofit_id uuid primary key,
    changes      bigint not null
);

-- The consent of nonprofits to be listed and to receive donations through this site. A row is only changed when the consent
-- is withdrawn.
create table consents (
    id           uuid primary key,
    nonprofit_id uuid not null,
    account_id   uuid not null,
    -- The officer who consents, and the position.
    officer      text not null,
    position     text not null,
    -- What was consented to.
    version      text not null,
    wording      text not null,
    given_at     bigint not null,
    withdrawn_at bigint
);

create unique index consents_current on consents (nonprofit_id) where withdrawn_at is null;
create index consents_nonprofit on consents (nonprofit_id, given_at);

-- Requests of nonprofits to close giving and fundraisers for them.
create table takedowns (
    id           uuid primary key,
    nonprofit_id uuid not null,
    account_id   uuid not null,
    reason       text not null,
    created_at   bigint not null,
    -- When giving was opened again.
    ended_at     bigint,
    ended_by     uuid
);

create unique index takedowns_open on takedowns (nonprofit_id) where ended_at is null;
create index takedowns_listed on takedowns (created_at, id) where ended_at is null;

-- What nonprofits decided about fundraisers for them. Without a row, everybody can create one.
create table fundraiser_rules (
    nonprofit_id uuid primary key,
    -- `approve`: a new one waits for the nonprofit. `decline`: nobody can create one.
    rule         text not null,
    changed_at   bigint not null
);

-- For the list of donations that a nonprofit sees.
create index ledger_entries_nonprofit on ledger_entries (nonprofit_id, mode, sequence) where kind = 'donation';
