-- People who have given the right password and still owe a second factor. It is no session: nothing else takes it.
create table sign_in_steps (
  -- SHA-256 in hexadecimal of the secret that the browser holds
  token_hash text primary key,
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null references users on delete cascade,
  failures integer not null default 0,
  expires_at timestamptz not null
);

create index sign_in_steps_of_user on sign_in_steps (user_id);
create index sign_in_steps_to_prune on sign_in_steps (expires_at);
