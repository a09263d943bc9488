create table passkeys (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null references users on delete cascade,
  name text not null,
  -- in base64url, as browsers send it
  credential_id text not null,
  -- COSE, in base64url
  public_key text not null,
  -- of its uses, if the authenticator counts; it never goes back
  counter bigint not null,
  transports text[] not null default '{}',
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);

create unique index passkeys_unique_credential_id on passkeys (account_id, credential_id);
create index passkeys_of_user on passkeys (user_id, id);

-- Each is taken once.
create table passkey_challenges (
  challenge text primary key,
  account_id bigint not null references accounts on delete cascade,
  -- who registers a passkey; null = a sign-in of whoever it is
  user_id bigint references users on delete cascade,
  expires_at timestamptz not null
);

create index passkey_challenges_to_prune on passkey_challenges (expires_at);
create index passkey_challenges_of_user on passkey_challenges (user_id) where user_id is not null;
