-- Which fundraisers support a nonprofit, for its page.
create index fundraiser_nonprofits_supported on fundraiser_nonprofits (nonprofit_id);

-- Gifts that were begun on our own pages, from the first form to the receipt.
create table gifts (
    id            uuid primary key,
    -- started, pending, completed, failed or refunded.
    state         text not null,
    provider      text not null,
    nonprofit_id  uuid not null,
    fundraiser_id uuid,
    amount        bigint not null,
    -- Who gave; an e-mail address is only for the receipt.
    name          text,
    is_public     boolean not null,
    email         text,
    message       text,
    -- Why it failed, as the provider told.
    fault         text,
    -- What the link told that led here: the partner's own name for the gift, and what it is meant for.
    partner_id    text,
    designation   text,
    -- Its number in the journal.
    entry         bigint,
    started_at    bigint not null,
    changed_at    bigint not null
);

create index gifts_open on gifts (state, changed_at);
create index gifts_entry on gifts (entry);
