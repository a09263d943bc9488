-- Requests a minute; null = as many as it likes.
alter table api_tokens add column rate_limit integer check (rate_limit > 0);
-- Where it may be used from, as CIDR; empty = from anywhere.
alter table api_tokens add column networks text[] not null default '{}';
-- The client's address at its last use, written with that.
alter table api_tokens add column last_address text;
-- When somebody was told that it ends soon; null = nobody was, for this end.
alter table api_tokens add column warned_at timestamptz;
create index api_tokens_to_warn on api_tokens (expires_at) where purpose is null and warned_at is null;

-- Earlier texts of a token that was rotated, while they still work.
create table api_token_texts (
  token_hash text primary key,
  account_id bigint not null,
  token_id bigint not null references api_tokens on delete cascade,
  ends_at timestamptz not null
);
create index api_token_texts_of_token on api_token_texts (token_id);
