-- What an account has set of the settings that plugins declare for accounts; what is not here has its standard value.
create table account_settings (
  account_id bigint not null references accounts on delete cascade,
  name text not null,
  value text not null,
  updated_by_id bigint references users on delete set null,
  updated_at timestamptz not null default now(),
  primary key (account_id, name)
);
