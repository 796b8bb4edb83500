-- The previous version may run beside this migration.

-- Facts from the other files of the IRS, by EIN: a file may be imported before the nonprofit is in the directory. The
-- column `source` names the file that a row comes from: the revision of its import times 65,536, plus its position in
-- import_files.

-- The last five periods of Form 990, 990-EZ and 990-PF. `facts` is JSON; only `causeway import 990` writes it. The table
-- has row IDs: without them, SQLite would store rows of this size on a page of their own.
create table returns (
    ein       integer not null,
    -- The month in which the period ends, as YYYYMM.
    period    integer not null,
    form      text not null,
    -- The ID of the filing, from the name of its file; of two returns for a period, the one with the greater ID replaces
    -- the other. Empty if it is not known.
    object_id text not null,
    source    integer not null,
    facts     text not null,
    digest    integer not null,
    primary key (ein, period)
) strict;

-- What the returns of a nonprofit say on its page, taken from them by every import: each value is the newest.
create table return_profiles (
    ein                integer primary key,
    -- As the nonprofit writes itself, if that is not in capitals.
    name               text,
    -- Other names, one per line.
    aliases            text,
    description        text,
    description_long   text,
    description_period integer,
    description_source integer,
    website_url        text,
    website_period     integer,
    website_source     integer,
    formed             integer,
    -- The latest amounts, in dollars, with the period and source of their return.
    revenue            integer,
    expenses           integer,
    assets             integer,
    amounts_period     integer,
    amounts_source     integer,
    -- Whether the latest return says that it is the final one.
    is_final           integer not null
) strict;

-- Publication 78: organizations to which donations are deductible, with codes separated by commas.
create table publication_78 (
    ein    integer primary key,
    codes  text not null,
    source integer not null
) strict;

-- The automatic revocation list: the row with the newest revocation of each EIN. Dates are YYYY-MM-DD.
create table revocations (
    ein            integer primary key,
    revoked_on     text not null,
    posted_on      text,
    reinstated_on  text,
    -- The paragraph of section 501(c); 0 if it is not stated.
    exemption_type integer not null,
    source         integer not null
) strict;

-- Form 990-N, which the smallest organizations file: the newest filing of each EIN.
create table epostcards (
    ein                integer primary key,
    tax_year          integer not null,
    -- The end of the period, as YYYY-MM-DD.
    period_end        text,
    -- Whether gross receipts are normally $50,000 or less.
    has_small_receipts integer not null,
    is_terminated     integer not null,
    website_url       text,
    source            integer not null
) strict;

-- What imports changed about nonprofits that were already in the directory.
create table nonprofit_history (
    ein       integer not null,
    revision  integer not null,
    field     text not null,
    old_value text,
    new_value text,
    primary key (ein, revision, field)
) strict, without rowid;

-- The file of the last import that changed the profile.
alter table profiles add column source integer;
