-- The certificate of each host, and how the last order for one went. A host belongs to one account at a time; its
-- certificate stays with it when it moves.
create table certificates (
  id bigint generated always as identity primary key,
  host text not null unique check (host = lower(host) and length(host) <= 253),
  account_id bigint not null,
  -- null until the first order succeeds
  chain text,
  key_sealed text,
  not_before timestamptz,
  expires_at timestamptz,
  -- when to order the next one; the authority may advise another time (ARI)
  renew_at timestamptz,
  advice_at timestamptz,
  -- orders that failed since the last one that succeeded
  failures int not null default 0,
  last_error text check (length(last_error) <= 1000),
  try_at timestamptz not null default now(),
  ordered_at timestamptz,
  created_at timestamptz not null default now()
);
create index certificates_of_account on certificates (account_id, host);
create index certificates_due on certificates (try_at);

-- Orders of the last weeks, to stay below the authority's limits.
create table certificate_orders (
  id bigint generated always as identity primary key,
  host text not null,
  issued boolean not null default false,
  at timestamptz not null default now()
);
create index certificate_orders_by_time on certificate_orders (at);

-- What an authority asks for while it checks a host: by token over HTTP, or by host over TLS.
create table certificate_challenges (
  name text primary key,
  answer_sealed text not null,
  expires_at timestamptz not null
);

-- This installation's account at each authority.
create table certificate_authorities (
  directory text primary key,
  key_sealed text not null,
  account_url text not null
);
