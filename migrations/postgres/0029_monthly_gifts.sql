-- The previous version may run beside this migration.

-- The monthly gift that a donation belongs to. The donation that starts a gift has the same ID.
alter table donations add column monthly_gift_id uuid;

create index donations_monthly_gift on donations (monthly_gift_id, started_at) where monthly_gift_id is not null;

-- Gifts that are charged every month, as their provider knows them. The donor's name and email address, and what a partner
-- passed on, are those of the donation that started the gift and has its ID.
create table monthly_gifts (
    id              uuid primary key,
    provider        text not null,
    livemode        boolean not null,
    -- `active`, `past_due`, `paused` or `canceled`.
    state           text not null,
    -- `payment` if the provider gave up collecting it, `recipient` if its nonprofit can no longer receive donations.
    cause           text,
    nonprofit_id    uuid not null,
    fundraiser_id   uuid,
    -- What is charged each month, and the part of it that covers the fee.
    amount          bigint not null,
    covered         bigint not null,
    -- Stripe's IDs.
    subscription    text,
    customer        text,
    started_at      bigint not null,
    -- When the next period starts, which is charged unless the gift is paused.
    next_at         bigint,
    -- When a pause ends by itself.
    resumes_at      bigint,
    canceled_at     bigint,
    -- The invoice that could not be collected, how often that was tried, why it failed, and when it is tried again.
    failed_invoice  text,
    failed_attempts bigint not null default 0,
    failure         text,
    next_attempt_at bigint,
    -- When the card can no longer be charged, and the expiry that the donor was warned about.
    card_expires_at bigint,
    card_warned_at  bigint,
    -- The newest invoice that was looked at, so that none is missed if its event is lost.
    last_invoice    text,
    -- When the donor was last reminded of the gift.
    reminded_at     bigint not null,
    -- When the provider is asked again about the gift. Null if there is nothing to ask.
    check_at        bigint,
    -- When the provider was asked what this row says. An older answer does not replace it.
    seen_at         bigint not null
);

create unique index monthly_gifts_subscription on monthly_gifts (subscription) where subscription is not null;
create index monthly_gifts_check on monthly_gifts (check_at) where check_at is not null;
create index monthly_gifts_started on monthly_gifts (livemode, started_at desc, id);
create index monthly_gifts_state on monthly_gifts (livemode, state, started_at desc, id);
create index monthly_gifts_count on monthly_gifts (livemode, state, amount);
create index monthly_gifts_card on monthly_gifts (card_expires_at) where state <> 'canceled';
create index monthly_gifts_reminder on monthly_gifts (reminded_at) where state <> 'canceled';
create index monthly_gifts_cause on monthly_gifts (cause) where cause is not null;
