-- Signing out here signs out at the provider too.
alter table sign_in_providers add column sign_out_there boolean not null default false;

-- What of a sign-in is kept as long as its session lasts.
create table sign_in_origins (
  account_id bigint not null references accounts on delete cascade,
  id uuid not null,
  provider_id uuid not null,
  -- null = a second factor is still awaited
  session_id bigint references api_tokens on delete cascade,
  issuer text not null,
  subject text not null,
  -- the provider's own session; null = it does not name any
  sid text,
  -- the ID token, sealed for this row; null = not needed, or too long for an address
  id_token text,
  created_at timestamptz not null default now(),
  primary key (account_id, id),
  foreign key (account_id, provider_id) references sign_in_providers on delete cascade
);
create index sign_in_origins_of_session on sign_in_origins (session_id);
create index sign_in_origins_of_subject on sign_in_origins (account_id, provider_id, subject);

-- Logout tokens of providers that were used: each counts once.
create table sign_in_logouts (
  account_id bigint not null references accounts on delete cascade,
  provider_id uuid not null,
  -- SHA-256 of its jti, in hexadecimal
  token_hash text not null,
  expires_at timestamptz not null,
  primary key (account_id, provider_id, token_hash),
  foreign key (account_id, provider_id) references sign_in_providers on delete cascade
);
create index sign_in_logouts_by_end on sign_in_logouts (expires_at);

-- Of a sign-out: the provider sends back a state too. It has no browser, for its cookie may have ended.
alter table sign_in_attempts add column purpose text not null default 'sign_in'
  check (purpose in ('sign_in', 'sign_out'));
