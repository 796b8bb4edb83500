-- The previous version may run beside this migration.

-- When the provider makes the money of a donation available, in milliseconds. Null if it did not say.
alter table donations add column available_at integer;

-- How nonprofits are paid.
create table payees (
    nonprofit_id blob primary key,
    -- `ach` or `check`.
    method       text not null,
    -- Who is paid.
    name         text not null,
    -- Encrypted: the routing number, the type of the account and its number. Null for checks.
    bank         blob,
    last_four    text,
    -- Where checks go. Empty: the address in the files of the IRS.
    street       text not null,
    city         text not null,
    state        text not null,
    zip          text not null,
    email        text,
    -- Grows with each change of how the nonprofit is paid.
    version      integer not null,
    created_at   integer not null,
    changed_at   integer not null,
    -- Nothing is paid before then, because how the nonprofit is paid was changed.
    held_until   integer
) strict;

create index payees_held on payees (held_until) where held_until is not null;
create index payees_changed on payees (changed_at desc, nonprofit_id);

create table disbursement_batches (
    id          integer primary key,
    -- `live`, or `test` if no money was charged.
    mode        text not null,
    -- `draft`, `approved`, `exported` or `closed`.
    state       text not null,
    -- Donations made before then are included.
    until       integer not null,
    lines       integer not null,
    amount      integer not null,
    prepared_at integer not null,
    -- Null for the command line.
    prepared_by blob,
    approved_at integer,
    approved_by blob,
    exported_at integer,
    closed_at   integer
) strict;

create index disbursement_batches_open on disbursement_batches (id) where state <> 'closed';

-- One payment to one nonprofit.
create table disbursement_lines (
    batch            integer not null,
    line             integer not null,
    nonprofit_id     blob not null,
    amount           integer not null,
    -- `queued`, `sent`, `paid`, `returned` or `void`.
    state            text not null,
    -- The payee when the batch was prepared. The line is not sent if the payee has changed since.
    method           text not null,
    payee_version    integer not null,
    payee_name       text not null,
    last_four        text,
    street           text not null,
    city             text not null,
    state_code       text not null,
    zip              text not null,
    -- The payment at the bank, and its return.
    reference        text,
    return_reference text,
    sent_at          integer,
    finished_at      integer,
    primary key (batch, line)
) strict;

create unique index disbursement_lines_reference on disbursement_lines (reference) where reference is not null;
create unique index disbursement_lines_return on disbursement_lines (return_reference)
    where return_reference is not null;
create index disbursement_lines_nonprofit on disbursement_lines (nonprofit_id, batch);
create index disbursement_lines_open on disbursement_lines (batch) where state in ('queued', 'sent');

-- What each entry of the books owes to a nonprofit. It is in one line of a batch at most.
create table owed_entries (
    entry        integer not null,
    nonprofit_id blob not null,
    mode         text not null,
    -- The kind of the settled entry, or `reassignment`.
    kind         text not null,
    -- Below zero if less is owed from then on. It is the gross amount less the fee.
    amount       integer not null,
    fee          integer not null,
    -- The donation that the entry is about, or the entry itself.
    root         integer not null,
    recorded_at  integer not null,
    -- The line that it is in, unless that was returned or voided.
    batch        integer,
    line         integer,
    primary key (entry, nonprofit_id)
) strict;

create index owed_entries_open on owed_entries (mode, nonprofit_id, entry) where batch is null;
create index owed_entries_line on owed_entries (batch, line) where batch is not null;

-- What a line consists of, also after it was returned.
create table disbursement_items (
    batch        integer not null,
    line         integer not null,
    entry        integer not null,
    nonprofit_id blob not null,
    primary key (batch, line, entry)
) strict;

-- The files that were exported, encrypted, so that a second export returns the same bytes.
create table disbursement_files (
    batch      integer not null,
    format     text not null,
    created_at integer not null,
    -- The payments in the file.
    lines      integer not null,
    content    blob not null,
    primary key (batch, format)
) strict;

-- The last entry of the ledger that was read for `owed_entries`.
create table disbursement_position (
    id    integer primary key,
    entry integer not null
) strict;

insert into disbursement_position (id, entry) values (1, 0);

-- The yearly statements that were emailed.
create table donor_statements (
    -- An HMAC of the email address.
    donor     text not null,
    year      integer not null,
    queued_at integer not null,
    primary key (donor, year)
) strict, without rowid;

-- Donations that a nonprofit received on its own account, for its statements.
create index donations_account on donations (nonprofit_id, entry) where account is not null;

-- For the emails with yearly statements, donor by donor.
create index donations_email on donations (lower(email)) where email is not null;
