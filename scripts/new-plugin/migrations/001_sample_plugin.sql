-- Never edited once it has run anywhere: the next change is 002_….sql.
create table sample_plugin_items (
  id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  title text not null,
  text text,
  words integer,
  version integer not null default 1,
  -- Checked at the commit: plugin.ts refuses to delete the person, and finds the items for that.
  created_by_id bigint not null references users deferrable initially deferred,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index sample_plugin_items_by_account on sample_plugin_items (account_id, id);
create index sample_plugin_items_by_creator on sample_plugin_items (account_id, created_by_id);
