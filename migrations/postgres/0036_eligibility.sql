-- The previous version may run beside this migration.

-- The rows of the lists that decide whether a nonprofit is in good standing, as in the newest file of each.
create table standing_entries (
    -- `california`, `tax-board` or `sanctions`.
    list         text not null,
    -- The number of the row in its list.
    entry        text not null,
    -- Which file of the list the row is from, such as `may-operate`.
    part         text not null,
    -- The EIN in the row, or that of another row with the same state number. Null: only a name can tell.
    ein          bigint,
    -- The number of the Secretary of State or the tax board.
    state_number text,
    status       text not null,
    name         text not null,
    city         text not null,
    -- Other names and addresses, one per line.
    details      text not null,
    -- The day of the status, as YYYY-MM-DD.
    since        text,
    -- 1 if the EIN is that of another row with the same state number.
    joined       bigint not null,
    primary key (list, entry)
);

create index standing_entries_ein on standing_entries (ein) where ein is not null;
create index standing_entries_unnamed on standing_entries (list, entry) where ein is null;

-- The newest file of each part of a list.
create table standing_files (
    list   text not null,
    part   text not null,
    source bigint not null,
    -- The day of the file, in milliseconds: the one that it states, or that of the import.
    as_of  bigint not null,
    primary key (list, part)
);

-- What imports changed about the rows of the lists. The files show the present only.
create table standing_changes (
    revision  bigint not null,
    list      text not null,
    entry     text not null,
    ein       bigint,
    -- Null: the row was added.
    old_value text,
    -- Null: the row is gone.
    new_value text,
    primary key (revision, list, entry)
);

create index standing_changes_ein on standing_changes (ein, revision) where ein is not null;

-- Nonprofits whose names resemble a row that has no EIN. A person decides.
create table eligibility_matches (
    ein     bigint not null,
    list    text not null,
    entry   text not null,
    -- Why the pair came up, separated by semicolons.
    reasons text not null,
    primary key (ein, list, entry)
);

-- What operators decided about a check of a nonprofit.
create table eligibility_decisions (
    id         bigint primary key,
    ein        bigint not null,
    check_name text not null,
    -- `pass` or `fail`.
    outcome    text not null,
    note       text not null,
    -- The username of the operator; null for a command.
    decided_by text,
    decided_at bigint not null,
    -- The rows that it is about. It ends when they change.
    about      text not null,
    -- Null while it is in force.
    ended_at   bigint,
    -- Why it ended: `undone`, `replaced` or `changed`.
    end_reason text
);

create unique index eligibility_decisions_current on eligibility_decisions (ein, check_name) where ended_at is null;
create index eligibility_decisions_newest on eligibility_decisions (ein, id desc);

-- The verdicts that changed.
create table eligibility_history (
    id          bigint primary key,
    ein         bigint not null,
    changed_at  bigint not null,
    -- `yes`, `no` or `review`.
    old_verdict text not null,
    new_verdict text not null,
    -- The check that decided.
    check_name  text not null,
    reason      text not null,
    -- The file that the check reads, and its SHA-256. Null for decisions of operators.
    source_name text,
    source_hash text
);

create index eligibility_history_ein on eligibility_history (ein, id desc);

-- Verdicts that change on a day without an import: the end of a period of grace.
create table eligibility_due (
    ein    bigint primary key,
    due_at bigint not null
);

create index eligibility_due_at on eligibility_due (due_at);

-- 1: the revision of the directory at which one of these tables changed last. 2: the revision up to which the verdicts that the
-- IRS files changed are in the history.
create table eligibility_version (
    id       bigint primary key,
    revision bigint not null
);
