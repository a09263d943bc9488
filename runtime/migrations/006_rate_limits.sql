-- Limits that are counted over all machines: `current` in the window of this number, `previous` in the one before. What
-- a crash of PostgreSQL empties is counted anew.
create unlogged table rate_limits (
  name text not null,
  key text not null,
  number bigint not null,
  current bigint not null,
  previous bigint not null,
  expires_at timestamptz not null,
  primary key (name, key)
);
