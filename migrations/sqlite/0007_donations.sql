-- The previous version may run beside this migration.

-- For the list of fundraisers on the page of a nonprofit.
create index fundraiser_nonprofits_supported on fundraiser_nonprofits (nonprofit_id);

-- Donations started at the checkout, from the submitted form to the receipt.
create table donations (
    id            blob primary key,
    -- In the URL of the payment page and the receipt. Only the donor knows it.
    receipt_id    blob not null,
    -- started, pending, completed, failed or refunded.
    state         text not null,
    provider      text not null,
    nonprofit_id  blob not null,
    fundraiser_id blob,
    amount        integer not null,
    -- The donor. The email address is used for the receipt and to derive the donor ID in the ledger.
    name          text,
    is_public     integer not null,
    email         text,
    -- The email address in lowercase and without a tag (ada+news@…). The number of receipts is limited by this value.
    mailbox       text,
    message       text,
    -- Why the payment provider declined it.
    fault         text,
    -- From the partner's donate link: the partner's own ID of the donation, and what the donation is for.
    partner_id    text,
    designation   text,
    -- The sequence number of its ledger entry.
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
