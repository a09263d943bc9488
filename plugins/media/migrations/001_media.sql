-- Contents, each once for all accounts. Bytes are removed only in the transaction that removes their row.
create table media_contents (
  hash text primary key check (hash ~ '^[0-9a-f]{64}$'),
  size bigint not null,
  -- when somebody last stored this content; without a file it stays for a while after
  touched_at timestamptz not null default now()
);

create table media (
  id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  hash text not null references media_contents,
  -- 'team/2026'; '' = the top
  folder text not null default '',
  name text not null,
  size bigint not null,
  -- found in the content
  mime text not null,
  -- as they are shown: a turned picture's are exchanged
  width integer,
  height integer,
  is_public boolean not null default false,
  -- texts by locale
  titles jsonb not null default '{}',
  alts jsonb not null default '{}',
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint media_unique_name unique (account_id, folder, name)
);

create index media_by_account on media (account_id, id);
create index media_by_hash on media (hash);
