-- What a person has set up for themselves in a user interface: views, columns, tiles.
create table user_preferences (
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null references users on delete cascade,
  name text not null,
  value json not null,
  updated_at timestamptz not null default now(),
  primary key (account_id, user_id, name)
);
create index user_preferences_of_user on user_preferences (user_id);
