-- The tables of the hand-written server as one writes them for exactly this work: an index for the one list, one for
-- the one search, with PostgreSQL's defaults.
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

create index contacts_by_city on contacts (city, visits desc);
create index contacts_by_fragment on contacts using gin (lower(name) gin_trgm_ops);
