-- Stop the previous version before this migration: it counts calls by class.

-- The usage of each key by hour and endpoint, for 90 days. All calls that were checked against a rate limit are counted:
-- 2xx and 304, 4xx except 429, 429, and 5xx.
drop table key_usage;

create table key_usage (
    key_id        uuid not null,
    hour          bigint not null,
    endpoint      text not null,
    succeeded     bigint not null,
    client_errors bigint not null,
    refused       bigint not null,
    server_errors bigint not null,
    last_at       bigint not null,
    primary key (key_id, hour, endpoint)
);

create index key_usage_hour on key_usage (hour);

-- The same by day, in UTC, for 13 months.
create table key_usage_days (
    key_id        uuid not null,
    day           bigint not null,
    endpoint      text not null,
    succeeded     bigint not null,
    client_errors bigint not null,
    refused       bigint not null,
    server_errors bigint not null,
    primary key (key_id, day, endpoint)
);

create index key_usage_days_day on key_usage_days (day);

-- The last failure of each import command, until it succeeds.
create table import_failures (
    command   text primary key,
    failed_at bigint not null,
    error     text not null
);
