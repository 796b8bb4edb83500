-- The previous version may run beside this migration.
-- Emails for the mail server. A row is deleted once the mail server has accepted the email.
create table mail_queue (
    id           blob primary key,
    recipient    text not null,
    subject      text not null,
    text         text not null,
    queued_at    integer not null,
    -- The next attempt is due at this time.
    due_at       integer not null,
    attempts     integer not null,
    -- The attempt in progress, and when another server may take over.
    lease        blob,
    leased_until integer,
    last_error   text,
    -- When delivery was given up. Such emails are kept for the operator for a while.
    failed_at    integer
) strict;

create index mail_queue_due on mail_queue (due_at) where failed_at is null;
create index mail_queue_recipient on mail_queue (lower(recipient));
