-- What a running server watches: one number per topic, raised by every change to it.
create table revisions (
    topic    text primary key,
    revision integer not null
) strict, without rowid;

insert into revisions (topic, revision) values ('directory', 0), ('keys', 0);

-- The one row that says which store this is; derived files name it.
create table store (
    id                 blob primary key,
    created_at         integer not null,
    -- Of the secret in the file secret_file; null until the first start.
    secret_fingerprint text
) strict;

-- One row for each body: who it is and what the IRS says of it. The filed columns are one text with tabs between
-- them (name, second name, city, state, ZIP, NTEE code, codes and amounts): nothing asks for one of them alone, and
-- writing and reading 1.8 million rows takes half the time. Indexes are made apart from the table, so that a large
-- import can drop them and make them again.
create table nonprofits (
    id      blob not null,
    ein     integer,
    slug    text not null,
    filed   text not null,
    -- Did it come out of a file of the IRS, and when did it leave them?
    listed  integer not null,
    gone_at integer,
    digest  integer not null
) strict;

create unique index nonprofits_id on nonprofits (id);
create unique index nonprofits_ein on nonprofits (ein);
create unique index nonprofits_slug on nonprofits (slug);

-- Slugs of bodies that were renamed. They are never given to another body.
create table former_slugs (
    slug         text primary key,
    nonprofit_id blob not null
) strict, without rowid;

-- What people told us beyond the files of the IRS; an import of those never touches it. Null: nothing told.
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

-- Every import, and the files it read.
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

-- Which bodies a small change touched, so that a running server reads just those.
create table directory_changes (
    revision     integer not null,
    nonprofit_id blob not null,
    primary key (revision, nonprofit_id)
) strict, without rowid;
