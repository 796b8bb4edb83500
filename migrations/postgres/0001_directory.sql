-- What a running server watches: one number per topic, raised by every change to it.
create table revisions (
    topic    text primary key,
    revision bigint not null
);

insert into revisions (topic, revision) values ('directory', 0), ('keys', 0);

-- The one row that says which store this is; derived files name it.
create table store (
    id                 uuid primary key,
    created_at         bigint not null,
    -- Of the secret in the file secret_file; null until the first start.
    secret_fingerprint text
);

-- One row for each body: who it is and what the IRS says of it. The filed columns are one text with tabs between
-- them (name, second name, city, state, ZIP, NTEE code, codes and amounts): nothing asks for one of them alone, and
-- writing and reading 1.8 million rows takes half the time. Indexes are made apart from the table, so that a large
-- import can drop them and make them again.
create table nonprofits (
    id      uuid not null,
    ein     bigint,
    slug    text collate "C" not null,
    filed   text not null,
    -- Did it come out of a file of the IRS, and when did it leave them?
    listed  boolean not null,
    gone_at bigint,
    digest  bigint not null
);

create unique index nonprofits_id on nonprofits (id);
create unique index nonprofits_ein on nonprofits (ein);
create unique index nonprofits_slug on nonprofits (slug);

-- Slugs of bodies that were renamed. They are never given to another body.
create table former_slugs (
    slug         text primary key,
    nonprofit_id uuid not null
);

-- What people told us beyond the files of the IRS; an import of those never touches it. Null: nothing told.
create table profiles (
    nonprofit_id     uuid primary key,
    name             text,
    aliases          text,
    description      text,
    description_long text,
    website_url      text,
    causes           text,
    country          text,
    logo             text,
    cover            text
);

-- Every import, and the files it read.
create table imports (
    revision    bigint primary key,
    kind        text not null,
    started_at  bigint not null,
    finished_at bigint not null,
    lines       bigint not null,
    added       bigint not null,
    changed     bigint not null,
    gone        bigint not null,
    refused     bigint not null
);

create table import_files (
    revision bigint not null,
    position bigint not null,
    name     text not null,
    sha256   text not null,
    lines    bigint not null,
    primary key (revision, position)
);

-- Which bodies a small change touched, so that a running server reads just those.
create table directory_changes (
    revision     bigint not null,
    nonprofit_id uuid not null,
    primary key (revision, nonprofit_id)
);
