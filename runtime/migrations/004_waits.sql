-- Since when a job waits, if not since it was made: it failed and is tried again, or an earlier job of its order key
-- held it. After the database's clock was set back, the same wait is counted from the time that it shows now.
alter table jobs add column waits_since timestamptz;

-- Puts what this worker still holds back to wait for delays_in[i] seconds. A job whose key waits already loses it.
create or replace function retry_jobs(
  ids_in bigint[], attempts_in integer[], delays_in float8[], errors_in text[], forgiven_in integer[], worker_in text,
  at_in timestamptz)
returns setof bigint language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  keep_keys boolean;
  moment constant timestamptz := coalesce(at_in, now());
begin
  foreach keep_keys in array array[true, false] loop
    begin
      return query
      update jobs j
      set state = 'waiting', worker = null, error = coalesce(i.error, j.error), forgiven = j.forgiven + i.forgiven,
        run_at = moment + make_interval(secs => i.delay), waits_since = moment,
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

-- Lets the first job of each order key go, where none of that key is going; gives back their names.
create or replace function promote_jobs(names_in text[], order_keys_in text[], at_in timestamptz)
returns setof text language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  pair record;
  moment constant timestamptz := coalesce(at_in, now());
begin
  for pair in select distinct p.name, p.order_key from unnest(names_in, order_keys_in) as p (name, order_key)
    order by p.name, p.order_key
  loop
    begin
      return query
      update jobs j set state = 'waiting', run_at = greatest(j.run_at, moment), waits_since = moment
      where j.state = 'parked' and j.id = (
        select h.id from jobs h
        where h.name = pair.name and h.order_key = pair.order_key and h.order_key is not null
        order by h.id limit 1)
      returning j.name;
    exception when unique_violation then null; -- jobs_order_head: another one of this key goes already
    end;
  end loop;
end $$;
