-- The previous version may run beside this migration.

-- Whoever writes to the ledger locks its head first, so this migration waits for a writer instead of blocking one halfway.
select entries from ledger_head where id = 1 for update;

-- Entries about money, such as a payout, are about no single recipient. `origin` is the entry that another follows from:
-- the one that a settlement settles, the refund or dispute that is reversed, or the disbursement that came back. `note`
-- says why an operator made an entry. Servers of the previous version leave both empty.
alter table ledger_entries alter column nonprofit_id drop not null;
alter table ledger_entries add column origin bigint;
alter table ledger_entries add column note text;

-- Each entry is settled once, and reversed once.
create unique index ledger_entries_origin on ledger_entries (origin, kind) where origin is not null;
-- For what is owed to a nonprofit.
create index ledger_postings_owed on ledger_postings (party_id, sequence) where party = 'owed';

-- Whether real money is charged, decided when the donation is started. Null in rows of the previous version, whose provider
-- tells: all except `test` charge real money.
alter table donations add column livemode boolean;
