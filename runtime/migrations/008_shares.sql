-- What a job belongs to within its account, such as the flow that it drives: no share keeps the places of the others.
alter table jobs add column share text collate "C";
-- Of the payload as text; null: written before this was kept.
alter table jobs add column bytes integer;
create index jobs_shares on jobs (name, coalesce(account_id, 0), coalesce(share, ''), run_at, id) where state <> 'parked';

-- The first job of each share of this name, if it is due: not of those that are full (a share that is null: the whole
-- account). One or two steps of the index for each share, and none for an account that is full, whatever waits for it.
create function job_heads(name_in text, full_accounts_in bigint[], full_shares_in text[], moment timestamptz)
returns bigint[] language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  most constant integer := 1000;
  gap record;
  head record;
  of_account bigint;
  of_share text;
  is_free boolean;
  heads bigint[] := '{}';
begin
  for gap in
    select coalesce(lag(f.account) over (order by f.account), -1) as low, f.account as high from (
      select distinct account from unnest(full_accounts_in, full_shares_in) as f (account, share) where share is null
      union all select 9223372036854775807
    ) f order by f.account
  loop
    of_account := gap.low;
    of_share := null;
    loop
      select j.id, coalesce(j.account_id, 0) as account, coalesce(j.share, '') as share, j.run_at into head from jobs j
      where j.name = name_in and j.state <> 'parked' and coalesce(j.account_id, 0) = of_account
        and coalesce(j.share, '') > of_share
      order by coalesce(j.account_id, 0), coalesce(j.share, ''), j.run_at, j.id limit 1;
      if not found then
        select j.id, coalesce(j.account_id, 0) as account, coalesce(j.share, '') as share, j.run_at into head from jobs j
        where j.name = name_in and j.state <> 'parked' and coalesce(j.account_id, 0) > of_account
          and coalesce(j.account_id, 0) < gap.high
        order by coalesce(j.account_id, 0), coalesce(j.share, ''), j.run_at, j.id limit 1;
        exit when not found;
      end if;
      of_account := head.account;
      of_share := head.share;
      select count(*) = 0 into is_free from unnest(full_accounts_in, full_shares_in) as f (account, share)
      where f.account = of_account and f.share = of_share;
      if is_free and head.run_at <= moment then
        heads := heads || head.id;
        if cardinality(heads) >= most then return heads; end if;
      end if;
    end loop;
  end loop;
  return heads;
end $$;

-- As claim_jobs, and only as many as have bytes_in bytes together, with the one that reaches them. Where heads_in[i],
-- only the first job of each share that is not among the full ones of that name.
create function claim_fair_jobs(
  names_in text[], limits_in integer[], leases_in integer[], since_in timestamptz[], heads_in boolean[],
  full_names_in text[], full_accounts_in bigint[], full_shares_in text[], bytes_in bigint, worker_in text,
  at_in timestamptz)
returns table (
  id bigint, name text, attempt integer, forgiven integer, max_attempts integer, order_key text, account_id bigint,
  share text, payload json, bytes integer, causation json, due_at timestamptz)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare moment constant timestamptz := coalesce(at_in, now());
begin
  -- A claim that a power cut takes back leaves the job waiting, and what the handler commits is written after it.
  perform set_config('synchronous_commit', 'off', true);
  return query
  with lane as materialized (
    select l.*, case when l.heads then job_heads(l.name,
      array(select f.account from unnest(full_names_in, full_accounts_in) as f (name, account) where f.name = l.name),
      array(select f.share from unnest(full_names_in, full_shares_in) as f (name, share) where f.name = l.name),
      moment) end as ids
    from unnest(names_in, limits_in, leases_in, since_in, heads_in) with ordinality
      as l (name, most, lease, since, heads, n)
  ), next as materialized (
    select j.*, lane.n, lane.lease from lane cross join lateral (
      select w.id, w.run_at, coalesce(w.bytes, pg_column_size(w.payload)) as size from jobs w
      where not lane.heads and w.name = lane.name and w.state <> 'parked' and w.run_at >= lane.since
        and w.run_at <= moment
      order by w.run_at, w.id
      limit lane.most
      for update skip locked
    ) j
  ), others as materialized (
    select j.*, lane.n, lane.lease from lane cross join lateral (
      select w.id, w.run_at, coalesce(w.bytes, pg_column_size(w.payload)) as size from jobs w
      where w.id = any(lane.ids) and w.state <> 'parked' and w.run_at <= moment
      order by w.run_at, w.id
      limit lane.most
      for update skip locked
    ) j
  ), found as (
    select f.id, f.run_at, f.lease, sum(f.size) over (
      order by f.n, f.run_at, f.id rows between unbounded preceding and 1 preceding) as before
    from (select * from next union all select * from others) f
  ), due as materialized (
    select f.id, f.run_at, f.lease from found f where coalesce(f.before, 0) < bytes_in
  )
  update jobs j
  set state = 'running', attempt = j.attempt + 1, worker = worker_in, run_at = moment + make_interval(secs => due.lease)
  from due where j.id = due.id
  returning j.id, j.name, j.attempt, j.forgiven, j.max_attempts, j.order_key, j.account_id, j.share, j.payload,
    coalesce(j.bytes, pg_column_size(j.payload)), j.causation, due.run_at;
end $$;
