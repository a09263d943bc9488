-- Ways of looking at the records of a database, each person's own and shared ones.
create table db_views (
  id uuid not null,
  account_id bigint not null references accounts on delete cascade,
  -- No foreign key to dbs: a database that was deleted may be restored with them. The job that drops records drops them.
  db_id uuid not null,
  version integer not null default 1,
  name text not null,
  kind text not null,
  table_name text,
  filters json not null default '{}',
  sort text[] not null default '{}',
  columns text[] not null default '{}',
  group_by text,
  date_field text,
  cover_field text,
  shared boolean not null default false,
  position integer not null default 0,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index db_views_of_db on db_views (account_id, db_id, position, id);
