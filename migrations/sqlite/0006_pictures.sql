-- Hosted pictures. The id is made from the bytes that were sent, so the same bytes are stored once. What is kept of
-- them is a blob of our own making (hash: its SHA-256), named anew each time it is written: a blob without a row is
-- nobody's.
create table pictures (
    id         text primary key,
    blob       text not null unique,
    hash       blob not null,
    kind       text not null,
    width      integer not null,
    height     integer not null,
    created_at integer not null
) strict, without rowid;
