-- The previous version may run beside this migration.

-- How an account appears on its fundraisers: a name instead of the username, and the ID of a hosted picture.
alter table accounts add column display_name text;
alter table accounts add column picture text;
