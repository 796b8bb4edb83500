-- The previous version may run beside this migration.

-- The tables of the ledger get the names that the code and the documentation use.
drop trigger journal_head_events;
alter table journal_head rename to ledger_head;
alter table journal rename to ledger_entries;
alter table journal_legs rename to ledger_postings;

-- SQLite cannot rename indexes.
drop index journal_external;
drop index journal_fundraiser;
drop index journal_donor;
drop index journal_refunds;
create unique index ledger_entries_external on ledger_entries (source, external_id);
create index ledger_entries_fundraiser on ledger_entries (fundraiser_id, mode, sequence);
create index ledger_entries_donor on ledger_entries (fundraiser_id, mode, donor, amount);
create index ledger_entries_refunds on ledger_entries (refunds);

create trigger ledger_head_events after update of events on ledger_head
when old.events is not new.events
begin
    update revisions set revision = new.events where topic = 'events';
end;

-- A server of the previous version reads and writes through these views until it is restarted. A later version removes
-- them.
create view journal_head as select id, entries, hash, events, forgotten from ledger_head;
create view journal as
    select sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, amount, refunds, recorded_at,
        raised, supporters, hash
    from ledger_entries;
create view journal_legs as select sequence, position, party, party_id, amount from ledger_postings;

create trigger journal_head_update instead of update on journal_head
begin
    update ledger_head set entries = new.entries, hash = new.hash, events = new.events, forgotten = new.forgotten
    where id = old.id;
end;

create trigger journal_insert instead of insert on journal
begin
    insert into ledger_entries (sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, amount,
        refunds, recorded_at, raised, supporters, hash)
    values (new.sequence, new.kind, new.mode, new.source, new.external_id, new.nonprofit_id, new.fundraiser_id,
        new.donor, new.amount, new.refunds, new.recorded_at, new.raised, new.supporters, new.hash);
end;

create trigger journal_legs_insert instead of insert on journal_legs
begin
    insert into ledger_postings (sequence, position, party, party_id, amount)
    values (new.sequence, new.position, new.party, new.party_id, new.amount);
end;
