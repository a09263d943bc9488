-- Pages as an editor has them, rendered without being saved: for ten minutes and the one who made it.
create table cms_previews (
  account_id bigint not null references accounts on delete cascade,
  -- of what stands in the address
  token_hash text primary key,
  user_id bigint not null,
  html text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index cms_previews_by_user on cms_previews (account_id, user_id, created_at);
