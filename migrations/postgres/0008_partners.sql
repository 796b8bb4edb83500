-- The origins that donors may be redirected to, each registered by an account as its own.
create table partner_origins (
    account_id uuid not null references accounts (id),
    -- Scheme, host and port, as browsers write them.
    origin     text not null,
    created_at bigint not null,
    -- What its owner publishes there to prove that it is theirs, and when we found it.
    token      text not null,
    proven_at  bigint,
    -- When an operator allowed it without a proof.
    allowed_at bigint,
    primary key (account_id, origin)
);

create index partner_origins_origin on partner_origins (origin);

-- What the partner's link asked for: where to redirect to, and metadata that is returned to the partner.
alter table donations add column success_url text;
alter table donations add column exit_url text;
alter table donations add column partner_metadata text;

-- The newest fundraisers, for feeds.
create index fundraisers_newest on fundraisers (created_at);

-- Where a nonprofit takes donations itself.
alter table profiles add column donate_url text;
