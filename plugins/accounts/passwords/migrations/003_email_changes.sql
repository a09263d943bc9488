-- Addresses that people have given for themselves and not confirmed yet: one a person, and the present one counts.
create table email_changes (
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null references users on delete cascade,
  email text not null,
  -- the person's address when they asked: with another one the link does not work
  email_before text,
  -- SHA-256 in hexadecimal
  token_hash text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (account_id, user_id),
  constraint email_changes_unique_token_hash unique (account_id, token_hash)
);
create index email_changes_by_user on email_changes (user_id);
create index email_changes_to_prune on email_changes (expires_at);
