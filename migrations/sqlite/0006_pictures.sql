-- The previous version may run beside this migration.

-- Uploaded pictures. The ID is derived from the uploaded bytes, so the same bytes are stored once. The blob holds the
-- re-encoded picture, and `hash` is its SHA-256 hash. A blob gets a new name each time it is written; one without a row
-- is unused and can be deleted.
create table pictures (
    id         text primary key,
    blob       text not null unique,
    hash       blob not null,
    kind       text not null,
    width      integer not null,
    height     integer not null,
    created_at integer not null
) strict, without rowid;
