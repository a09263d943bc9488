-- A durable queue. `run_at` says when a job may be claimed next: when it is due or, while it runs, when its lease ends.
-- So one index finds both what is due and what a dead process left behind.
create table jobs (
  id bigint generated always as identity primary key,
  name text not null,
  -- parked: an earlier job of the same order key is not finished yet
  state text not null default 'waiting' check (state in ('waiting', 'parked', 'running')),
  run_at timestamptz not null,
  -- counts claims and never goes back: a worker that lost its lease is told apart by it
  attempt integer not null default 0,
  -- claims that ended because the process stopped: not the job's fault
  forgiven integer not null default 0,
  max_attempts integer,
  key text,
  order_key text,
  account_id bigint,
  worker text,
  -- json, not jsonb: it is stored as it came, "\u0000" included
  payload json not null,
  causation json,
  error text,
  created_at timestamptz not null
) with (
  -- Every row is updated once and then deleted: room for the second version on the page, and an early vacuum.
  fillfactor = 70,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_threshold = 5000
);
create index jobs_due on jobs (name, run_at, id) where state <> 'parked';
create unique index jobs_key on jobs (name, key) where key is not null and state <> 'running';
create index jobs_order on jobs (name, order_key, id) where order_key is not null;
create unique index jobs_order_head on jobs (name, order_key) where order_key is not null and state <> 'parked';

create table job_history (
  id bigint primary key,
  name text not null,
  outcome text not null check (outcome in ('done', 'failed', 'cancelled')),
  attempt integer not null,
  account_id bigint,
  -- null where the job was done: nobody needs it any more
  payload json,
  causation json,
  error text,
  created_at timestamptz not null,
  finished_at timestamptz not null
) with (autovacuum_vacuum_cost_delay = 0);
create index job_history_finished_at on job_history (finished_at);

create table schedule_runs (
  schedule_id text not null,
  due_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (schedule_id, due_at)
);

-- Functions, because a function can forbid the plans that a queue must never get: a statement that was prepared while
-- the table was small keeps its sequential scan when the table has a million rows.

-- Hands out due jobs: up to limits_in[i] of names_in[i], due at since_in[i] or later, leased for leases_in[i] seconds.
-- Without `since` every claim would walk over the index entries of all jobs that were deleted since the last vacuum.
create function claim_jobs(
  names_in text[], limits_in integer[], leases_in integer[], since_in timestamptz[], worker_in text, at_in timestamptz)
returns table (
  id bigint, name text, attempt integer, forgiven integer, max_attempts integer, order_key text, account_id bigint,
  payload json, causation json, due_at timestamptz)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare moment constant timestamptz := coalesce(at_in, now());
begin
  -- A claim that a power cut takes back leaves the job waiting, and what the handler commits is written after it.
  perform set_config('synchronous_commit', 'off', true);
  return query
  with due as materialized (
    select j.id, j.run_at, lane.lease
    from unnest(names_in, limits_in, leases_in, since_in) as lane (name, most, lease, since)
    cross join lateral (
      select w.id, w.run_at from jobs w
      where w.name = lane.name and w.state <> 'parked' and w.run_at >= lane.since and w.run_at <= moment
      order by w.run_at, w.id
      limit lane.most
      for update skip locked
    ) j
  )
  update jobs j
  set state = 'running', attempt = j.attempt + 1, worker = worker_in, run_at = moment + make_interval(secs => due.lease)
  from due where j.id = due.id
  returning j.id, j.name, j.attempt, j.forgiven, j.max_attempts, j.order_key, j.account_id, j.payload, j.causation,
    due.run_at;
end $$;

-- Moves what this worker still holds to the history; the ids that come back are those.
create function finish_jobs(
  ids_in bigint[], attempts_in integer[], outcomes_in text[], errors_in text[], worker_in text, at_in timestamptz)
returns setof bigint language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
begin
  return query
  with gone as (
    delete from jobs j
    using unnest(ids_in, attempts_in, outcomes_in, errors_in) as i (id, attempt, outcome, error)
    where j.id = i.id and j.attempt = i.attempt and j.worker = worker_in and j.state = 'running'
    returning j.id, j.name, i.outcome, j.attempt, j.account_id, j.payload, j.causation, i.error, j.created_at
  ), kept as (
    insert into job_history
      (id, name, outcome, attempt, account_id, payload, causation, error, created_at, finished_at)
    select g.id, g.name, g.outcome, g.attempt, g.account_id, case when g.outcome <> 'done' then g.payload end,
      g.causation, g.error, g.created_at, coalesce(at_in, now())
    from gone g
  )
  select g.id from gone g;
end $$;

-- Puts what this worker still holds back to wait for delays_in[i] seconds. A job whose key waits already loses it.
create function retry_jobs(
  ids_in bigint[], attempts_in integer[], delays_in float8[], errors_in text[], forgiven_in integer[], worker_in text,
  at_in timestamptz)
returns setof bigint language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare keep_keys boolean;
begin
  foreach keep_keys in array array[true, false] loop
    begin
      return query
      update jobs j
      set state = 'waiting', worker = null, error = coalesce(i.error, j.error), forgiven = j.forgiven + i.forgiven,
        run_at = coalesce(at_in, now()) + make_interval(secs => i.delay),
        key = case when keep_keys and not exists (
          select from jobs o where o.name = j.name and o.key = j.key and o.key is not null and o.state <> 'running'
        ) then j.key end
      from unnest(ids_in, attempts_in, delays_in, errors_in, forgiven_in) as i (id, attempt, delay, error, forgiven)
      where j.id = i.id and j.attempt = i.attempt and j.worker = worker_in and j.state = 'running'
      returning j.id;
      return;
    exception when unique_violation then
      -- Two of this batch had one key, or it was enqueued meanwhile: go on without keys.
      if not keep_keys then raise; end if;
    end;
  end loop;
end $$;

-- Extends the leases of what this worker still holds; the ids that come back are those.
create function extend_jobs(
  ids_in bigint[], attempts_in integer[], leases_in integer[], worker_in text, at_in timestamptz)
returns setof bigint language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
begin
  return query
  update jobs j set run_at = coalesce(at_in, now()) + make_interval(secs => i.lease)
  from unnest(ids_in, attempts_in, leases_in) as i (id, attempt, lease)
  where j.id = i.id and j.attempt = i.attempt and j.worker = worker_in and j.state = 'running'
  returning j.id;
end $$;

-- Lets the first job of each order key go, where none of that key is going; gives back their names.
create function promote_jobs(names_in text[], order_keys_in text[], at_in timestamptz)
returns setof text language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare pair record;
begin
  for pair in select distinct p.name, p.order_key from unnest(names_in, order_keys_in) as p (name, order_key)
    order by p.name, p.order_key
  loop
    begin
      return query
      update jobs j set state = 'waiting', run_at = greatest(j.run_at, coalesce(at_in, now()))
      where j.state = 'parked' and j.id = (
        select h.id from jobs h
        where h.name = pair.name and h.order_key = pair.order_key and h.order_key is not null
        order by h.id limit 1)
      returning j.name;
    exception when unique_violation then null; -- jobs_order_head: another one of this key goes already
    end;
  end loop;
end $$;

-- When the next job of each name may be claimed, and in how many seconds. Names with none are left out.
create function next_jobs(names_in text[], at_in timestamptz)
returns table (name text, due_at timestamptz, seconds float8) language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  return query
  select lane.name, j.run_at, extract(epoch from j.run_at - coalesce(at_in, now()))::float8
  from unnest(names_in) as lane (name)
  cross join lateral (
    select w.run_at from jobs w where w.name = lane.name and w.state <> 'parked' order by w.run_at, w.id limit 1
  ) j;
end $$;
