-- The previous version may run beside this migration.

-- When the provider makes the money of a donation available, in milliseconds. Null if it did not say.
alter table donations add column available_at bigint;

-- How nonprofits are paid.
create table payees (
    nonprofit_id uuid primary key,
    -- `ach` or `check`.
    method       text not null,
    -- Who is paid.
    name         text not null,
    -- Encrypted: the routing number, the type of the account and its number. Null for checks.
    bank         bytea,
    last_four    text,
    -- Where checks go. Empty: the address in the files of the IRS.
    street       text not null,
    city         text not null,
    state        text not null,
    zip          text not null,
    email        text,
    -- Grows with each change of how the nonprofit is paid.
    version      bigint not null,
    created_at   bigint not null,
    changed_at   bigint not null,
    -- Nothing is paid before then, because how the nonprofit is paid was changed.
    held_until   bigint
);

create index payees_held on payees (held_until) where held_until is not null;
create index payees_changed on payees (changed_at desc, nonprofit_id);

create table disbursement_batches (
    id          bigint primary key,
    -- `live`, or `test` if no money was charged.
    mode        text not null,
    -- `draft`, `approved`, `exported` or `closed`.
    state       text not null,
    -- Donations made before then are included.
    until       bigint not null,
    lines       bigint not null,
    amount      bigint not null,
    prepared_at bigint not null,
    -- Null for the command line.
    prepared_by uuid,
    approved_at bigint,
    approved_by uuid,
    exported_at bigint,
    closed_at   bigint
);

create index disbursement_batches_open on disbursement_batches (id) where state <> 'closed';

-- One payment to one nonprofit.
create table disbursement_lines (
    batch            bigint not null,
    line             bigint not null,
    nonprofit_id     uuid not null,
    amount           bigint not null,
    -- `queued`, `sent`, `paid`, `returned` or `void`.
    state            text not null,
    -- The payee when the batch was prepared. The line is not sent if the payee has changed since.
    method           text not null,
    payee_version    bigint not null,
    payee_name       text not null,
    last_four        text,
    street           text not null,
    city             text not null,
    state_code       text not null,
    zip              text not null,
    -- The payment at the bank, and its return.
    reference        text,
    return_reference text,
    sent_at          bigint,
    finished_at      bigint,
    primary key (batch, line)
);

create unique index disbursement_lines_reference on disbursement_lines (reference) where reference is not null;
create unique index disbursement_lines_return on disbursement_lines (return_reference)
    where return_reference is not null;
create index disbursement_lines_nonprofit on disbursement_lines (nonprofit_id, batch);
create index disbursement_lines_open on disbursement_lines (batch) where state in ('queued', 'sent');

-- What each entry of the books owes to a nonprofit. It is in one line of a batch at most.
create table owed_entries (
    entry        bigint not null,
    nonprofit_id uuid not null,
    mode         text not null,
    -- The kind of the settled entry, or `reassignment`.
    kind         text not null,
    -- Below zero if less is owed from then on. It is the gross amount less the fee.
    amount       bigint not null,
    fee          bigint not null,
    -- The donation that the entry is about, or the entry itself.
    root         bigint not null,
    recorded_at  bigint not null,
    -- The line that it is in, unless that was returned or voided.
    batch        bigint,
    line         bigint,
    primary key (entry, nonprofit_id)
);

create index owed_entries_open on owed_entries (mode, nonprofit_id, entry) where batch is null;
create index owed_entries_line on owed_entries (batch, line) where batch is not null;

-- What a line consists of, also after it was returned.
create table disbursement_items (
    batch        bigint not null,
    line         bigint not null,
    entry        bigint not null,
    nonprofit_id uuid not null,
    primary key (batch, line, entry)
);

-- The files that were exported, encrypted, so that a second export returns the same bytes.
create table disbursement_files (
    batch      bigint not null,
    format     text not null,
    created_at bigint not null,
    -- The payments in the file.
    lines      bigint not null,
    content    bytea not null,
    primary key (batch, format)
);

-- The last entry of the ledger that was read for `owed_entries`.
create table disbursement_position (
    id    bigint primary key,
    entry bigint not null
);

insert into disbursement_position (id, entry) values (1, 0);

-- The yearly statements that were emailed.
create table donor_statements (
    -- An HMAC of the email address.
    donor     text not null,
    year      bigint not null,
    queued_at bigint not null,
    primary key (donor, year)
);

-- Donations that a nonprofit received on its own account, for its statements.
create index donations_account on donations (nonprofit_id, entry) where account is not null;

-- For the emails with yearly statements, donor by donor.
create index donations_email on donations (lower(email)) where email is not null;
