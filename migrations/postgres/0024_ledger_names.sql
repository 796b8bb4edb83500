-- The previous version may run beside this migration.

-- The tables of the ledger get the names that the code and the documentation use. The head comes first: whoever writes
-- to the ledger locks it first, so this migration waits for a writer instead of blocking one halfway.
alter table journal_head rename to ledger_head;
alter table journal rename to ledger_entries;
alter table journal_legs rename to ledger_postings;

alter index journal_head_pkey rename to ledger_head_pkey;
alter index journal_pkey rename to ledger_entries_pkey;
alter index journal_legs_pkey rename to ledger_postings_pkey;
alter index journal_external rename to ledger_entries_external;
alter index journal_fundraiser rename to ledger_entries_fundraiser;
alter index journal_donor rename to ledger_entries_donor;
alter index journal_refunds rename to ledger_entries_refunds;
alter trigger journal_head_events on ledger_head rename to ledger_head_events;

-- Servers of the previous version read and write through these views during a rolling upgrade. A later version removes
-- them.
create view journal_head as select id, entries, hash, events, forgotten from ledger_head;
create view journal as
    select sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, amount, refunds, recorded_at,
        raised, supporters, hash
    from ledger_entries;
create view journal_legs as select sequence, position, party, party_id, amount from ledger_postings;
