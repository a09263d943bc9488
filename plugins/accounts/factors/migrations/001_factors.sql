-- One authenticator app per person, once a code of it has been seen.
create table totp_factors (
  user_id bigint primary key references users on delete cascade,
  account_id bigint not null references accounts on delete cascade,
  -- sealed with SECRET_KEY
  secret text not null,
  -- the 30 seconds whose code was used last: neither it nor an earlier one is taken again
  last_step bigint not null,
  -- wrong codes since the last right one
  failures integer not null default 0,
  blocked_until timestamptz not null default now(),
  created_at timestamptz not null default now()
);

-- Those that have not been used. SHA-256 in hexadecimal: 80 random bits need no stretching.
create table recovery_codes (
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null references users on delete cascade,
  code_hash text not null,
  primary key (user_id, code_hash)
);
