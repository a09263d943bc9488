-- Files that arrive in several requests (tus). What has arrived is on the disk of one machine.
create table media_uploads (
  id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null,
  -- of the whole file
  size bigint not null check (size >= 0),
  -- what the file will be called, and the like
  fields jsonb not null,
  -- whoever writes now, while they say so
  writer uuid,
  writes_until timestamptz,
  -- the file that it has become
  media_id uuid,
  expires_at timestamptz not null
);
create index media_uploads_by_account on media_uploads (account_id);
create index media_uploads_by_end on media_uploads (expires_at);
