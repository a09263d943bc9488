-- A tenant. The first one has neither base_url nor host: its address is BASE_URL, or where the server listens.
create table accounts (
  id bigint generated always as identity primary key,
  name text not null,
  base_url text,
  host text constraint accounts_unique_host unique,
  timezone text not null default 'UTC',
  locale text not null default 'en',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table users (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  login text not null,
  email text,
  name text not null,
  role text not null default 'user' check (role in ('admin', 'manager', 'user', 'guest')),
  active boolean not null default true,
  -- beyond those of the role
  privileges text[] not null default '{}',
  -- argon2id; null = cannot sign in by password
  password_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index users_unique_login on users (account_id, lower(login));
create unique index users_unique_email on users (account_id, lower(email));
create index users_by_account on users (account_id, id);

-- Teams, departments and groups are alike: they differ only in what refers to them.
create table units (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  kind text not null check (kind in ('team', 'department', 'group')),
  name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index units_by_kind on units (account_id, kind, id);

create table memberships (
  user_id bigint not null references users on delete cascade,
  unit_id bigint not null references units on delete cascade,
  primary key (user_id, unit_id)
);

create index memberships_by_unit on memberships (unit_id);
