-- What people say about a record. Those of a record that is gone are not shown.
create table record_comments (
  id uuid not null,
  account_id bigint not null references accounts on delete cascade,
  -- No foreign keys to dbs and records: what was deleted may be restored with its comments.
  db_id uuid not null,
  record_id uuid not null,
  version integer not null default 1,
  text text not null,
  mentions bigint[] not null default '{}',
  created_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index record_comments_of_record on record_comments (account_id, db_id, record_id, id);

-- Who was told of what: whoever a comment mentions.
create table inbox_notices (
  id uuid not null,
  account_id bigint not null,
  user_id bigint not null references users on delete cascade,
  comment_id uuid not null,
  created_at timestamptz not null default now(),
  read_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, comment_id) references record_comments on delete cascade
);
create unique index inbox_notices_once on inbox_notices (account_id, comment_id, user_id);
create index inbox_notices_of_user on inbox_notices (account_id, user_id, id);
create index inbox_notices_of_person on inbox_notices (user_id);
