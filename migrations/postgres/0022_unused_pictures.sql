-- The previous version may run beside this migration.

-- Since when nothing uses a picture; null if it is used, or was not looked at yet.
alter table pictures add column unused_since bigint;
