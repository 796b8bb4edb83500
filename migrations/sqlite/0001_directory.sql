-- The previous version may run beside this migration.

-- One revision number per topic. Every change increments it, and running servers poll it.
create table revisions (
    topic    text primary key,
    revision integer not null
) strict, without rowid;

insert into revisions (topic, revision) values ('directory', 0), ('keys', 0);

-- A single row that identifies this database. The ID is also in the files that are derived from it.
create table store (
    id                 blob primary key,
    created_at         integer not null,
    -- The fingerprint of the secret in secret_file; null until the first start.
    secret_fingerprint text
) strict;

-- One row per nonprofit: its identifiers and its IRS record. `filed` holds the columns of the IRS file (name, second
-- name, city, state, ZIP code, NTEE code, codes and amounts) as one tab-separated text: no query needs a single
-- column, and this halves the time to write and read 1.8 million rows. The indexes are created separately from the
-- table so that a large import can drop and re-create them.
create table nonprofits (
    id      blob not null,
    ein     integer,
    slug    text not null,
    filed   text not null,
    -- Whether it comes from the IRS files, and when it disappeared from them.
    listed  integer not null,
    gone_at integer,
    digest  integer not null
) strict;

create unique index nonprofits_id on nonprofits (id);
create unique index nonprofits_ein on nonprofits (ein);
create unique index nonprofits_slug on nonprofits (slug);

-- Former slugs of nonprofits that were renamed. They are never assigned to another nonprofit.
create table former_slugs (
    slug         text primary key,
    nonprofit_id blob not null
) strict, without rowid;

-- Information that is not in the IRS files, added by `causeway import nonprofits`. Importing IRS files never changes
-- it. A null column has no value of its own.
create table profiles (
    nonprofit_id     blob primary key,
    name             text,
    aliases          text,
    description      text,
    description_long text,
    website_url      text,
    causes           text,
    country          text,
    logo             text,
    cover            text
) strict;

create index profiles_logo on profiles (logo) where logo is not null;
create index profiles_cover on profiles (cover) where cover is not null;

-- Every import, and the files that it read.
create table imports (
    revision    integer primary key,
    kind        text not null,
    started_at  integer not null,
    finished_at integer not null,
    lines       integer not null,
    added       integer not null,
    changed     integer not null,
    gone        integer not null,
    refused     integer not null
) strict;

create table import_files (
    revision integer not null,
    position integer not null,
    name     text not null,
    sha256   text not null,
    lines    integer not null,
    primary key (revision, position)
) strict, without rowid;

-- The nonprofits that a small change affected, so that running servers reload only those.
create table directory_changes (
    revision     integer not null,
    nonprofit_id blob not null,
    primary key (revision, nonprofit_id)
) strict, without rowid;
