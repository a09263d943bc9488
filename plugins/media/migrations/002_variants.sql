alter table media add column is_animated boolean not null default false;

-- Pictures in other sizes that were made; their bytes are in a cache. Whatever is lost is made again.
create unlogged table media_variants (
  hash text not null,
  variant text not null,
  content text not null,
  size integer not null,
  used_at timestamptz not null default now(),
  primary key (hash, variant)
);

create index media_variants_by_use on media_variants (used_at);
