-- The previous version may run beside this migration.

-- Where the recipient stops emails like this one; null for emails that always come.
alter table mail_queue add column unsubscribe_url text;

-- The kinds of emails that an account has stopped.
create table stopped_notices (
    account_id uuid not null,
    kind       text not null,
    stopped_at bigint not null,
    primary key (account_id, kind)
);

-- How often an account was emailed about a kind of event lately, and what waits for a summary.
create table notice_windows (
    account_id    uuid not null,
    kind          text not null,
    -- The times of the last emails, separated by spaces.
    sent_at       text not null,
    waiting       bigint not null,
    waiting_since bigint,
    -- One line for each event that waits, up to a limit.
    lines         text not null,
    primary key (account_id, kind)
);

create index notice_windows_waiting on notice_windows (waiting_since) where waiting_since is not null;

-- The last row of the outbox whose emails were queued. Events from before this migration cause none.
create table notice_position (
    id       bigint primary key,
    sequence bigint not null
);

insert into notice_position (id, sequence) select 1, events from ledger_head where id = 1;

-- The emails that something causes only once: a fundraiser for each goal that it reached and for each end that came near.
create table sent_notices (
    -- The ID of the fundraiser.
    subject_id uuid not null,
    kind       text not null,
    -- The goal in cents, or the time of the end.
    about      bigint not null,
    created_at bigint not null,
    primary key (subject_id, kind, about)
);

create index fundraisers_ending on fundraisers (ends_at)
    where ends_at is not null and closed_at is null and hidden_at is null and in_review_since is null;
