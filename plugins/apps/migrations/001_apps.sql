create table apps (
  id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  name text not null,
  url_code text not null,
  description text,
  app_engine text not null,
  css_engine text not null,
  source_code text not null,
  public boolean not null default false,
  active boolean not null default true,
  db_code text,
  show_in_module text,
  prompt text,
  actions jsonb not null default '[]',
  -- dashboard_widget, and whatever else people keep there
  fields jsonb not null default '{}',
  config jsonb not null default '{}',
  -- served without the sandbox, on the viewer's session (CONTRACT 10)
  trusted boolean not null default false,
  -- the last build: never shown
  app_code text not null,
  css_code text not null,
  toolchain text not null,
  -- what kept the last change of the source from being saved, for its authors; null = the last one was
  failed_build jsonb,
  app_build_time integer not null default 0,
  css_build_time integer not null default 0,
  created_by_id bigint,
  updated_by_id bigint,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint apps_unique_url_code unique (account_id, url_code)
);

create index apps_by_account on apps (account_id, id);
create index apps_by_place on apps (account_id, show_in_module) where show_in_module is not null;

-- Every save is a version (CONTRACT 10).
create table app_versions (
  app_id uuid not null references apps on delete cascade,
  version integer not null,
  account_id bigint not null,
  name text not null,
  url_code text not null,
  description text,
  app_engine text not null,
  css_engine text not null,
  source_code text not null,
  public boolean not null,
  active boolean not null,
  db_code text,
  show_in_module text,
  prompt text,
  actions jsonb not null,
  fields jsonb not null,
  config jsonb not null,
  created_by_id bigint,
  created_at timestamptz not null default now(),
  primary key (app_id, version)
);

-- Compiled without being saved, for ten minutes and the one who made it.
create table app_previews (
  -- of what stands in the address
  token_hash text primary key,
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null,
  -- whose database and actions it has; the app may be saved or not
  app_id uuid references apps on delete cascade,
  name text not null,
  app_engine text not null,
  css_engine text not null,
  app_code text not null,
  css_code text not null,
  fields jsonb not null,
  config jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index app_previews_by_user on app_previews (account_id, user_id, created_at);

-- core.storage: what an app keeps for one visitor.
create table app_storage (
  app_id uuid not null references apps on delete cascade,
  -- user:<id>, or visitor:<value of {cookie_key}>
  owner text not null,
  key text not null,
  -- JSON as it was given
  value text not null,
  updated_at timestamptz not null default now(),
  primary key (app_id, owner, key)
);

-- Its row is locked by every write, so that the quota holds whoever writes at once.
create table app_storage_usage (
  app_id uuid not null references apps on delete cascade,
  owner text not null,
  bytes integer not null default 0,
  entries integer not null default 0,
  primary key (app_id, owner)
);

-- Which action started a flow process, and for whom: nobody else is told how it ends.
create table app_runs (
  process_id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  app_id uuid not null references apps on delete cascade,
  action text not null,
  flow_code text not null,
  -- as in app_storage; null = whoever knows the id, which nobody can guess
  owner text,
  created_at timestamptz not null default now()
);

create index app_runs_by_age on app_runs (created_at);
