-- Ways to other services: addresses, methods and a sealed secret. SPEC 4.3, CONTRACT 9.
create table connectors (
  id uuid primary key,
  account_id bigint not null references accounts,
  code text not null,
  name text not null,
  kind text not null,
  url text not null default '',
  -- sealed for this row alone; `secret_token_info` is what may be shown of it
  secret_token text,
  secret_token_info text,
  -- json, not jsonb: the first method is the one written first
  fields json not null default '{}',
  active boolean not null default true,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint connectors_unique_code unique (account_id, code)
);
