-- The previous version may run beside this migration.

-- Up to which entry each place of anchors has one. So a place that was emptied is not taken for a new one.
create table anchor_places (
    -- The URL of the blob store or folder; `blobs` for the one in the data folder.
    place      text primary key,
    entries    integer not null,
    written_at integer not null,
    -- When a server found that anchors were gone; null after an operator has accepted that.
    lost_at    integer
) strict;
