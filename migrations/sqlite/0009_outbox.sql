-- Facts up to this number have left the outbox by their age.
alter table journal_head add column forgotten integer not null default 0;
