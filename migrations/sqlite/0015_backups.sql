-- The previous version may run beside this migration.
-- The last backup that `causeway backup` completed: a single row with ID 1.
create table backups (
    id          integer primary key,
    created_at  integer not null,
    -- When it was restored to a scratch place and checked; null if it was not.
    verified_at integer,
    destination text not null,
    bytes       integer not null
) strict;
