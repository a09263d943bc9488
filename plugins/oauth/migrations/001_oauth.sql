-- Apps for which people sign in here (behaviour B.20).
create table oauth_clients (
  account_id bigint not null references accounts on delete cascade,
  -- a random text, or the address of its metadata document
  client_id text not null,
  name text not null,
  redirect_uris text[] not null,
  auth_method text not null check (auth_method in ('none', 'client_secret_basic', 'client_secret_post')),
  -- SHA-256
  secret_hash text,
  -- when its document was read; null = it registered itself
  read_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (account_id, client_id)
);

-- What somebody has let an app do: its code, then its family of refresh tokens. All hashes are SHA-256.
create table oauth_grants (
  account_id bigint not null,
  -- what it may do, and until when; the grant ends with it
  token_id bigint not null references api_tokens on delete cascade,
  client_id text not null,
  redirect_uri text not null,
  scope text not null,
  code_hash text not null,
  code_challenge text not null,
  code_ends_at timestamptz not null,
  -- what all refresh tokens of the family have, and what the present one alone has; null until the code is used
  family_hash text,
  refresh_hash text,
  primary key (account_id, token_id),
  foreign key (account_id, client_id) references oauth_clients on delete cascade
);
create unique index oauth_grants_by_code on oauth_grants (account_id, code_hash);
create unique index oauth_grants_by_family on oauth_grants (account_id, family_hash);
create index oauth_grants_of_client on oauth_grants (account_id, client_id);
create index oauth_grants_by_token on oauth_grants (token_id);
create index oauth_grants_unused on oauth_grants (code_ends_at) where family_hash is null;
