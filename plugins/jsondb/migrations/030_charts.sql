-- What the chart of a view measures: of which field, and by which part of a time it groups.
alter table db_views
  add column measure text not null default 'count',
  add column measure_field text,
  add column unit text not null default 'month';
