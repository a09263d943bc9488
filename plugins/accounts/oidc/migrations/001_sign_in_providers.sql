-- Where people of an account may sign in by OpenID Connect.
create table sign_in_providers (
  id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  -- part of the address to which the provider sends people back
  code text not null,
  name text not null,
  -- of the button; null = made of the name
  label text,
  issuer text not null,
  client_id text not null,
  -- sealed for this row; null = a public client
  client_secret text,
  scopes text not null,
  active boolean not null,
  create_people boolean not null,
  email_domains text[] not null,
  link_by_email boolean not null,
  verified_claim text not null,
  trust_second_factor boolean not null,
  -- null = nobody without a role from `roles` comes in
  default_role text check (default_role in ('admin', 'manager', 'user', 'guest')),
  role_claim text,
  -- { value of the claim: role }
  roles json not null,
  team_claim text,
  -- { value of the claim: team id }
  teams json not null,
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint sign_in_providers_unique_code unique (account_id, code)
);

-- Who somebody is at a provider: issuer and subject, which never change, and not the e-mail address, which may become
-- somebody else's.
create table sign_in_identities (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  provider_id uuid not null references sign_in_providers on delete cascade,
  user_id bigint not null references users on delete cascade,
  issuer text not null,
  subject text not null,
  -- as the provider gave it when they were linked
  email text not null,
  last_used_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  constraint sign_in_identities_unique_subject unique (provider_id, issuer, subject),
  constraint sign_in_identities_unique_user unique (provider_id, user_id)
);
create index sign_in_identities_of_user on sign_in_identities (user_id);
create index sign_in_identities_by_account on sign_in_identities (account_id, id);

-- Sign-ins on their way to a provider and back. The state and the browser's cookie are kept as hashes.
create table sign_in_attempts (
  state_hash text primary key,
  account_id bigint not null references accounts on delete cascade,
  provider_id uuid not null references sign_in_providers on delete cascade,
  browser_hash text not null,
  return_to text not null,
  expires_at timestamptz not null
);
create index sign_in_attempts_of_provider on sign_in_attempts (provider_id);
create index sign_in_attempts_by_end on sign_in_attempts (expires_at);
