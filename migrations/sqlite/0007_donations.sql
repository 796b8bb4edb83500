-- Which fundraisers support a nonprofit, for its page.
create index fundraiser_nonprofits_supported on fundraiser_nonprofits (nonprofit_id);

-- Donations that were started on our own pages, from the first form to the receipt.
create table donations (
    id            blob primary key,
    -- In the URL of the payment page and the receipt. Only the donor gets to know it.
    receipt_id    blob not null,
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
    -- The email address in lowercase and without a tag (ada+news@…), by which receipts are limited.
    mailbox       text,
    message       text,
    -- Why the provider declined it.
    fault         text,
    -- What the partner's link passed on: its own ID of the donation, and what the donation is for.
    partner_id    text,
    designation   text,
    -- Its sequence number in the ledger.
    entry         integer,
    started_at    integer not null,
    changed_at    integer not null,
    -- When the receipt was emailed.
    receipt_at    integer
) strict;

create unique index donations_receipt on donations (receipt_id);
create index donations_open on donations (state, changed_at);
create index donations_entry on donations (entry);
create index donations_receipts on donations (mailbox, receipt_at);
