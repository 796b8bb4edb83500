-- The previous version may run beside this migration.

-- What one process does for all that share the database, such as building a snapshot of the directory.
create table leases (
    name       text primary key,
    -- A random ID of the process that has the lease.
    holder     text not null,
    -- When another process may take over, in milliseconds since the Unix epoch by the clock of the database.
    expires_at integer not null
) strict;
