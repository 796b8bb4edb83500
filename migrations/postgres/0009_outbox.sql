-- Stop the previous version before this migration: its `causeway check` reports events that were removed as missing.

-- Events up to this sequence number were deleted from the outbox because of their age (`outbox.keep_days`).
alter table journal_head add column forgotten bigint not null default 0;
