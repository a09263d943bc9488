-- Failed sign-ins, in the database so that all server processes count together.
create table sign_in_failures (
  account_id bigint not null references accounts on delete cascade,
  -- a login (hashed: people type passwords there) or a client's address
  subject text not null,
  failures integer not null,
  last_at timestamptz not null,
  blocked_until timestamptz not null,
  primary key (account_id, subject)
);

create index sign_in_failures_to_prune on sign_in_failures (last_at);
