-- The tables of the hand-written server; its indexes are in ceiling-wide-indexes.sql or ceiling-narrow-indexes.sql.
create extension if not exists pg_trgm;

create table tokens (
  token_hash text primary key,
  user_id bigint not null,
  active boolean not null default true,
  expires_at timestamptz
);

create table contacts (
  id uuid primary key,
  name text not null,
  email text not null,
  city text,
  age bigint,
  visits bigint,
  joined_at timestamptz,
  phone text,
  note text,
  active boolean,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
