-- The previous version may run beside this migration.

-- Entries about money, such as a payout, are about no single recipient. `origin` is the entry that another follows from:
-- the one that a settlement settles, the refund or dispute that is reversed, or the disbursement that came back. `note`
-- says why an operator made an entry. A server of the previous version leaves both empty.
--
-- SQLite cannot allow nulls in an existing column, so the table is copied. The views of migration 24 refer to it by name
-- and have to be created again.
drop view journal;

create table ledger_entries_new (
    sequence      integer primary key,
    kind          text not null,
    -- `live`, or `test` if no money was charged.
    mode          text not null,
    source        text not null,
    external_id   text not null,
    nonprofit_id  blob,
    fundraiser_id blob,
    donor         text,
    amount        integer not null,
    refunds       integer,
    recorded_at   integer not null,
    raised        integer,
    supporters    integer,
    hash          blob not null,
    origin        integer,
    note          text
) strict;

insert into ledger_entries_new (sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, amount,
    refunds, recorded_at, raised, supporters, hash)
select sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, amount, refunds, recorded_at, raised,
    supporters, hash
from ledger_entries order by sequence;

drop table ledger_entries;
alter table ledger_entries_new rename to ledger_entries;

create unique index ledger_entries_external on ledger_entries (source, external_id);
create index ledger_entries_fundraiser on ledger_entries (fundraiser_id, mode, sequence);
create index ledger_entries_donor on ledger_entries (fundraiser_id, mode, donor, amount);
create index ledger_entries_refunds on ledger_entries (refunds);
-- Each entry is settled once, and reversed once.
create unique index ledger_entries_origin on ledger_entries (origin, kind) where origin is not null;
-- For what is owed to a nonprofit.
create index ledger_postings_owed on ledger_postings (party_id, sequence) where party = 'owed';

-- The trigger of migration 25, which was dropped with the table.
create trigger ledger_entries_raised after insert on ledger_entries when new.fundraiser_id is not null
begin
    update fundraisers set
        raised_live = case when new.mode = 'live' then coalesce(new.raised, raised_live) else raised_live end,
        raised_test = case when new.mode = 'test' then coalesce(new.raised, raised_test) else raised_test end
    where id = new.fundraiser_id;
end;

create view journal as
    select sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, amount, refunds, recorded_at,
        raised, supporters, hash
    from ledger_entries;

create trigger journal_insert instead of insert on journal
begin
    insert into ledger_entries (sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, amount,
        refunds, recorded_at, raised, supporters, hash)
    values (new.sequence, new.kind, new.mode, new.source, new.external_id, new.nonprofit_id, new.fundraiser_id,
        new.donor, new.amount, new.refunds, new.recorded_at, new.raised, new.supporters, new.hash);
end;

-- Whether real money is charged, decided when the donation is started. Null in rows of the previous version, whose provider
-- tells: all except `test` charge real money.
alter table donations add column livemode integer;
