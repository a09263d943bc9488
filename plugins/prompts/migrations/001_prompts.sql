create table prompts (
  id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  scope text not null default 'account' check (scope in ('user', 'team', 'department', 'account')),
  scope_id bigint check ((scope = 'account') = (scope_id is null)),
  code text not null,
  name text not null,
  content text not null,
  kind text not null default 'chat' check (kind in ('chat', 'agent')),
  -- ai_placeholder, and whatever else comes to stand beside it
  fields jsonb not null default '{}',
  -- assigned at creation and never shown (SPEC 2.1.1)
  token text not null,
  created_by_id bigint not null,
  updated_by_id bigint,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- It also finds the candidates of a cascade: all rows of an account with one code.
  constraint prompts_unique_code unique nulls not distinct (account_id, code, scope, scope_id)
);

create index prompts_by_account on prompts (account_id, id);

-- Every save is a version (CONTRACT 10).
create table prompt_versions (
  prompt_id uuid not null references prompts on delete cascade,
  version integer not null,
  account_id bigint not null,
  scope text not null,
  scope_id bigint,
  code text not null,
  name text not null,
  content text not null,
  kind text not null,
  fields jsonb not null,
  created_by_id bigint not null,
  created_at timestamptz not null default now(),
  primary key (prompt_id, version)
);
