-- The previous version may run beside this migration.

-- Pictures with the same pixels share a blob, so a blob can have several rows. SQLite cannot drop a constraint, so the
-- table is copied. `size` is the number of bytes of the blob; null for pictures that an earlier version stored, until the
-- next sweep.
create table pictures_with_shared_blobs (
    id           text primary key,
    blob         text not null,
    hash         blob not null,
    kind         text not null,
    width        integer not null,
    height       integer not null,
    created_at   integer not null,
    unused_since integer,
    size         integer
) strict, without rowid;

insert into pictures_with_shared_blobs (id, blob, hash, kind, width, height, created_at, unused_since)
    select id, blob, hash, kind, width, height, created_at, unused_since from pictures;

drop table pictures;
alter table pictures_with_shared_blobs rename to pictures;

create index pictures_blob on pictures (blob);
create index pictures_hash on pictures (hash);

-- The pictures that count in the quota of an account. The account may have been deleted, so it is not a foreign key.
create table account_pictures (
    account_id   blob not null,
    picture_id   text not null references pictures (id) on delete cascade,
    -- Since when the account does not use the picture; null if it does, or was not looked at yet.
    unused_since integer,
    primary key (account_id, picture_id)
) strict, without rowid;

create index account_pictures_picture on account_pictures (picture_id);

insert into account_pictures (account_id, picture_id)
    select account_id, cover from fundraisers where cover in (select id from pictures)
    union
    select id, picture from accounts where picture in (select id from pictures);
