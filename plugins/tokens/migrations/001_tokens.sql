create table api_tokens (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null references users on delete cascade,
  -- The token this one was made from, and with which it ends: a web_token's session, a session's temporary token.
  parent_id bigint references api_tokens on delete cascade,
  -- null: made by somebody through the API; session: by sign-in; temporary: for one rendered prompt.
  purpose text check (purpose in ('session', 'temporary')),
  name text,
  code text,
  kind text check (kind = 'web_token'),
  integration_app_code text,
  for_account boolean not null default false,
  active boolean not null default true,
  -- narrows; empty = all that the owner may
  privileges text[] not null default '{}',
  expires_at timestamptz,
  -- SHA-256 in hexadecimal
  token_hash text not null,
  token_info text not null,
  -- given from outside (CORE_ADMIN_TOKEN): of any form
  given boolean not null default false,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index api_tokens_unique_token_hash on api_tokens (token_hash);
create unique index api_tokens_unique_code on api_tokens (account_id, code);
create unique index api_tokens_unique_integration_app_code on api_tokens (account_id, integration_app_code);
create index api_tokens_by_user on api_tokens (user_id, id);
create index api_tokens_of_account on api_tokens (account_id, id) where for_account;
create index api_tokens_by_parent on api_tokens (parent_id) where parent_id is not null;
create index api_tokens_to_prune on api_tokens (expires_at) where purpose is not null;
create index api_tokens_given on api_tokens (id) where given;
