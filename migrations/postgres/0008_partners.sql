-- The previous version may run beside this migration.

-- Redirect origins, each registered by an account. Donors are redirected only to those that are proven or allowed.
create table partner_origins (
    account_id uuid not null references accounts (id),
    -- Scheme, host and port, in the form that browsers use.
    origin     text not null,
    created_at bigint not null,
    -- The token that the owner publishes there as proof of ownership, and when it was found.
    token      text not null,
    proven_at  bigint,
    -- When an operator allowed it without proof of ownership.
    allowed_at bigint,
    primary key (account_id, origin)
);

create index partner_origins_origin on partner_origins (origin);

-- From the partner's donate link: where to redirect the donor, and metadata that is returned to the partner.
alter table donations add column success_url text;
alter table donations add column exit_url text;
alter table donations add column partner_metadata text;

-- For the feeds of the newest fundraisers.
create index fundraisers_newest on fundraisers (created_at);

-- The nonprofit's own donation page.
alter table profiles add column donate_url text;
