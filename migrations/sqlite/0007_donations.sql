-- Which fundraisers support a nonprofit, for its page.
create index fundraiser_nonprofits_supported on fundraiser_nonprofits (nonprofit_id);

-- Donations that were started on our own pages, from the first form to the receipt.
create table donations (
    id            blob primary key,
    -- started, pending, completed, failed or refunded.
    state         text not null,
    provider      text not null,
    nonprofit_id  blob not null,
    fundraiser_id blob,
    amount        integer not null,
    -- Who gave; the email address is only for the receipt.
    name          text,
    is_public     integer not null,
    email         text,
    message       text,
    -- Why the provider declined it.
    fault         text,
    -- What the partner's link passed on: its own ID of the donation, and what the donation is for.
    partner_id    text,
    designation   text,
    -- Its sequence number in the ledger.
    entry         integer,
    started_at    integer not null,
    changed_at    integer not null
) strict;

create index donations_open on donations (state, changed_at);
create index donations_entry on donations (entry);
