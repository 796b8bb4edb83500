-- The previous version may run beside this migration.

-- The nonprofits without an EIN that imports added or changed. The history of all others is in nonprofit_history.
create table changes_without_ein (
    revision     integer not null,
    nonprofit_id blob not null,
    is_added     integer not null,
    primary key (revision, nonprofit_id)
) strict, without rowid;
