-- Stop the previous version before this migration: it shows hidden fundraisers and accepts suspended accounts.

-- The moderation state of a fundraiser: hidden, with a reason that its creator sees, or waiting for review.
alter table fundraisers add column hidden_at bigint;
alter table fundraisers add column hidden_reason text;
alter table fundraisers add column in_review_since bigint;

create index fundraisers_in_review on fundraisers (in_review_since) where in_review_since is not null;

-- The keys of a suspended account do not work, and nobody can sign in to it.
alter table accounts add column suspended_at bigint;
alter table accounts add column suspend_reason text;

-- When an operator removed the name and the message of a donation from public pages.
alter table donor_names add column removed_at bigint;

-- Reports from visitors about fundraisers and nonprofits. A report is open until an operator closes it.
create table reports (
    id           uuid primary key,
    -- `fundraiser` or `nonprofit`.
    subject_kind text not null,
    subject_id   uuid not null,
    reason       text not null,
    details      text not null,
    email        text,
    created_at   bigint not null,
    closed_at    bigint
);

create index reports_open on reports (created_at) where closed_at is null;
