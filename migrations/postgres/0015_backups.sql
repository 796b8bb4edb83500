-- The previous version may run beside this migration.
-- The last backup that `causeway backup` completed: a single row with ID 1.
create table backups (
    id          bigint primary key,
    created_at  bigint not null,
    -- When it was restored to a scratch place and checked; null if it was not.
    verified_at bigint,
    destination text not null,
    bytes       bigint not null
);
