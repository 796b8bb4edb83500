-- The previous version may run beside this migration.

-- A random token for each revision. After an older copy of the database is restored, the same numbers are assigned to
-- other contents; a server compares the token of the revision that it holds with this history and reloads everything if
-- it is not part of it. Old tokens are removed. The triggers write the tokens and notify all servers at commit, so that
-- no writer can forget either.
create table revision_tokens (
    topic    text not null,
    revision bigint not null,
    token    uuid not null,
    primary key (topic, revision)
);

-- The number of the last event in the outbox is a revision too.
insert into revisions (topic, revision) select 'events', events from journal_head where id = 1;

insert into revision_tokens (topic, revision, token) select topic, revision, gen_random_uuid() from revisions;

create function record_revision() returns trigger language plpgsql as $$
declare
    new_token uuid := gen_random_uuid();
begin
    insert into revision_tokens (topic, revision, token) values (new.topic, new.revision, new_token)
        on conflict (topic, revision) do update set token = excluded.token;
    perform pg_notify('causeway', new.topic || ' ' || new.revision || ' ' || new_token);
    return null;
end
$$;

create trigger revisions_token after update of revision on revisions
    for each row when (old.revision is distinct from new.revision) execute function record_revision();

create function record_events() returns trigger language plpgsql as $$
begin
    update revisions set revision = new.events where topic = 'events';
    return null;
end
$$;

create trigger journal_head_events after update of events on journal_head
    for each row when (old.events is distinct from new.events) execute function record_events();

-- Overlays read the former slugs of changed nonprofits only.
create index former_slugs_nonprofit on former_slugs (nonprofit_id);
