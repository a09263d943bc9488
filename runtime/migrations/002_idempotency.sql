create table idempotency_keys (
  account_id bigint not null,
  principal text not null,
  key text not null,
  fingerprint text not null,
  status integer,
  headers jsonb,
  body text,
  secret boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (account_id, principal, key)
);
create index idempotency_keys_created_at on idempotency_keys (created_at);

create table runtime_state (
  key text primary key,
  value text not null
);
