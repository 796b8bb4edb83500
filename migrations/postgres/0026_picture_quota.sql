-- The previous version may run beside this migration.

-- Pictures with the same pixels share a blob, so a blob can have several rows. `size` is the number of bytes of the blob;
-- null for pictures that an earlier version stored, until the next sweep.
alter table pictures drop constraint pictures_blob_key;
alter table pictures add column size bigint;

create index pictures_blob on pictures (blob);
create index pictures_hash on pictures (hash);

-- The pictures that count in the quota of an account. The account may have been deleted, so it is not a foreign key.
create table account_pictures (
    account_id   uuid not null,
    picture_id   text not null references pictures (id) on delete cascade,
    -- Since when the account does not use the picture; null if it does, or was not looked at yet.
    unused_since bigint,
    primary key (account_id, picture_id)
);

create index account_pictures_picture on account_pictures (picture_id);

insert into account_pictures (account_id, picture_id)
    select account_id, cover from fundraisers where cover in (select id from pictures)
    union
    select id, picture from accounts where picture in (select id from pictures);
