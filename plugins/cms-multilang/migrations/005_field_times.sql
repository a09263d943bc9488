-- When each translatable field of layouts, paragraphs and articles last changed, as pages know it (cms_pages.field_times).
alter table cms_layouts add column field_times jsonb not null default '{}';
alter table cms_paragraphs add column field_times jsonb not null default '{}';
-- of changes alone: an article's creation is no change
alter table cms_articles add column field_times jsonb not null default '{}';

-- What is there is as old as its record's last change, so that the next change of a source is noticed. Nobody has changed
-- a record, so no log is told.
create function cms_times_of(content text, fields jsonb, at timestamptz) returns jsonb language sql immutable as $$
  with flat as (
    select 'content' as name, to_jsonb(content) as value
    union all
    select 'fields.' || key, value from jsonb_each(fields)
    where not (key in ('pl', 'en', 'fr', 'cs', 'sk', 'de', 'es', 'uk') and jsonb_typeof(value) = 'object')
    union all
    select 'fields.' || outside.key || '.' || inside.key, inside.value
    from jsonb_each(fields) as outside,
      jsonb_each(case when jsonb_typeof(outside.value) = 'object' then outside.value else '{}' end) as inside
    where outside.key in ('pl', 'en', 'fr', 'cs', 'sk', 'de', 'es', 'uk'))
  select coalesce(
    jsonb_object_agg(name, to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), '{}')
  from flat where value not in ('null', '""')
$$;

alter table cms_layouts disable trigger user;
alter table cms_paragraphs disable trigger user;
alter table cms_articles disable trigger user;
update cms_layouts set field_times = cms_times_of(content, fields, updated_at);
update cms_paragraphs set field_times = cms_times_of(content, fields, updated_at);
-- Until now the matrix compared the times of articles as a whole.
update cms_articles set field_times = jsonb_build_object(
  'content', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
where updated_at > created_at and content <> '';
alter table cms_layouts enable trigger user;
alter table cms_paragraphs enable trigger user;
alter table cms_articles enable trigger user;

drop function cms_times_of;
