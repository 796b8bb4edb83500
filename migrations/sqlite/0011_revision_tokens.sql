-- The previous version may run beside this migration.

-- A random token for each revision. After an older copy of the database is restored, the same numbers are assigned to
-- other contents; a server compares the token of the revision that it holds with this history and reloads everything if
-- it is not part of it. Old tokens are removed. The triggers write the tokens, so that no writer can forget them.
create table revision_tokens (
    topic    text not null,
    revision integer not null,
    token    blob not null,
    primary key (topic, revision)
) strict, without rowid;

-- The number of the last event in the outbox is a revision too.
insert into revisions (topic, revision) select 'events', events from journal_head where id = 1;

insert into revision_tokens (topic, revision, token) select topic, revision, randomblob(16) from revisions;

create trigger revisions_token after update of revision on revisions
when old.revision is not new.revision
begin
    insert or replace into revision_tokens (topic, revision, token)
    values (new.topic, new.revision, randomblob(16));
end;

create trigger journal_head_events after update of events on journal_head
when old.events is not new.events
begin
    update revisions set revision = new.events where topic = 'events';
end;

-- Overlays read the former slugs of changed nonprofits only.
create index former_slugs_nonprofit on former_slugs (nonprofit_id);
