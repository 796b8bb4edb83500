-- The previous version may run beside this migration.

-- What each fundraiser has raised by the last of its ledger entries, so that an index can have it in order. The trigger
-- follows the ledger, whichever version writes it.
alter table fundraisers add column raised_live integer not null default 0;
alter table fundraisers add column raised_test integer not null default 0;

update fundraisers set
    raised_live = coalesce((select e.raised from ledger_entries e
        where e.fundraiser_id = fundraisers.id and e.mode = 'live' order by e.sequence desc limit 1), 0),
    raised_test = coalesce((select e.raised from ledger_entries e
        where e.fundraiser_id = fundraisers.id and e.mode = 'test' order by e.sequence desc limit 1), 0);

create trigger ledger_entries_raised after insert on ledger_entries when new.fundraiser_id is not null
begin
    update fundraisers set
        raised_live = case when new.mode = 'live' then coalesce(new.raised, raised_live) else raised_live end,
        raised_test = case when new.mode = 'test' then coalesce(new.raised, raised_test) else raised_test end
    where id = new.fundraiser_id;
end;

-- The public lists. Amounts that an organizer reports do not count for the order.
create index fundraisers_public on fundraisers (created_at, id)
    where closed_at is null and hidden_at is null and in_review_since is null;
create index fundraisers_raised_live on fundraisers (raised_live - coalesce(offline, 0), created_at, id)
    where closed_at is null and hidden_at is null and in_review_since is null;
create index fundraisers_raised_all on fundraisers (raised_live + raised_test - coalesce(offline, 0), created_at, id)
    where closed_at is null and hidden_at is null and in_review_since is null;

-- The lists of operators.
create index fundraisers_hidden on fundraisers (hidden_at, id) where hidden_at is not null;
create index reports_closed on reports (closed_at, id) where closed_at is not null;
create index partner_origins_waiting on partner_origins (created_at, origin)
    where proven_at is null and allowed_at is null;
create index fundraisers_offline on fundraisers (offline, id) where offline is not null;
