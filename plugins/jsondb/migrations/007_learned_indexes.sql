-- Indexes that databases get for how they are searched: one filters by some index columns and orders by another. The
-- index itself is named records_learned_ and the id without dashes.
create table db_indexes (
  id uuid primary key,
  account_id bigint not null,
  -- no foreign key to dbs: the index is dropped by a job after the database
  db_id uuid not null,
  -- the columns compared by equality and the one of the order, such as 'idx_str_2>idx_int_1'; nothing after > is by id
  shape text not null,
  status text not null default 'watched' check (status in ('watched', 'building', 'ready', 'failed')),
  -- the searches of this shape and their time; of watched ones, what is old counts less and less
  calls double precision not null default 0,
  milliseconds double precision not null default 0,
  error text,
  created_at timestamptz not null default now(),
  -- of the status
  updated_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  constraint db_indexes_unique_shape unique (db_id, shape)
);
