-- The first due jobs of shares of this name, at most `most_in` in all and `each_in` of a share: of accounts by turns, the
-- next one after `last_account_in` first, and of each account's shares by turns, after the one that it had last. Not of those that are full (a share that
-- is null: the whole account, which costs no step of the index, whatever waits for it).
create function job_turns(
  name_in text, most_in integer, each_in integer, last_account_in bigint, last_accounts_in bigint[], last_shares_in text[],
  full_accounts_in bigint[], full_shares_in text[], moment timestamptz)
returns bigint[] language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  most_accounts constant integer := 1000;
  gap record;
  accounts bigint[] := '{}';
  of_account bigint;
  last_share text;
  head_id bigint;
  head_at timestamptz;
  of_share text;
  share_of_account integer;
  turns bigint[] := '{}';
  before integer;
begin
  for gap in
    select coalesce(lag(f.account) over (order by f.account), -1) as low, f.account as high from (
      select distinct account from unnest(full_accounts_in, full_shares_in) as f (account, share) where share is null
      union all select 9223372036854775807
    ) f order by f.account
  loop
    of_account := gap.low;
    while cardinality(accounts) < most_accounts loop
      select coalesce(j.account_id, 0) into of_account from jobs j
      where j.name = name_in and j.state <> 'parked' and coalesce(j.account_id, 0) > of_account
        and coalesce(j.account_id, 0) < gap.high
      order by coalesce(j.account_id, 0), coalesce(j.share, ''), j.run_at, j.id limit 1;
      exit when not found;
      accounts := accounts || of_account;
    end loop;
  end loop;
  share_of_account := greatest(1, most_in / greatest(1, cardinality(accounts)));
  for of_account in
    select a.account from unnest(accounts) as a (account) order by a.account <= last_account_in, a.account
  loop
    last_share := (
      select l.share from unnest(last_accounts_in, last_shares_in) as l (account, share) where l.account = of_account);
    before := cardinality(turns);
    -- The shares after the last one, then those from the beginning up to it.
    for part in 1 .. 2 loop
      of_share := case when part = 1 then last_share end;
      while part = 2 or last_share is not null loop
        if of_share is null then
          select j.id, j.run_at, coalesce(j.share, '') into head_id, head_at, of_share from jobs j
          where j.name = name_in and j.state <> 'parked' and coalesce(j.account_id, 0) = of_account
          order by coalesce(j.account_id, 0), coalesce(j.share, ''), j.run_at, j.id limit 1;
        else
          select j.id, j.run_at, coalesce(j.share, '') into head_id, head_at, of_share from jobs j
          where j.name = name_in and j.state <> 'parked' and coalesce(j.account_id, 0) = of_account
            and coalesce(j.share, '') > of_share
          order by coalesce(j.account_id, 0), coalesce(j.share, ''), j.run_at, j.id limit 1;
        end if;
        exit when not found or (part = 2 and of_share collate "C" > last_share) or cardinality(turns) - before >= share_of_account;
        continue when head_at > moment or exists (
          select from unnest(full_accounts_in, full_shares_in) as f (account, share)
          where f.account = of_account and f.share = of_share);
        turns := turns || head_id || array(
          select j.id from jobs j
          where j.name = name_in and j.state <> 'parked' and coalesce(j.account_id, 0) = of_account
            and coalesce(j.share, '') = of_share and (j.run_at, j.id) > (head_at, head_id) and j.run_at <= moment
          order by j.run_at, j.id limit least(each_in, share_of_account - cardinality(turns) + before) - 1);
      end loop;
    end loop;
    exit when cardinality(turns) >= most_in;
  end loop;
  return turns;
end $$;

-- As claim_fair_jobs; where turns_in[i] > 0, the jobs of job_turns, so many of each share.
create function claim_jobs_by_turns(
  names_in text[], limits_in integer[], leases_in integer[], since_in timestamptz[], turns_in integer[],
  last_accounts_in bigint[], last_names_in text[], last_of_accounts_in bigint[], last_shares_in text[],
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
    select l.*, case when l.turns > 0 then job_turns(l.name, l.most, l.turns, l.last_account,
      array(select o.account from unnest(last_names_in, last_of_accounts_in) as o (name, account) where o.name = l.name),
      array(select o.share from unnest(last_names_in, last_shares_in) as o (name, share) where o.name = l.name),
      array(select f.account from unnest(full_names_in, full_accounts_in) as f (name, account) where f.name = l.name),
      array(select f.share from unnest(full_names_in, full_shares_in) as f (name, share) where f.name = l.name),
      moment) end as ids
    from unnest(names_in, limits_in, leases_in, since_in, turns_in, last_accounts_in) with ordinality
      as l (name, most, lease, since, turns, last_account, n)
  ), next as materialized (
    select j.*, lane.n, lane.lease from lane cross join lateral (
      select w.id, w.run_at, coalesce(w.bytes, pg_column_size(w.payload)) as size, 0::bigint as turn from jobs w
      where lane.turns = 0 and w.name = lane.name and w.state <> 'parked' and w.run_at >= lane.since
        and w.run_at <= moment
      order by w.run_at, w.id
      limit lane.most
      for update skip locked
    ) j
  ), others as materialized (
    select j.*, lane.n, lane.lease from lane cross join lateral (
      select w.id, w.run_at, coalesce(w.bytes, pg_column_size(w.payload)) as size, turn.at as turn
      from unnest(lane.ids) with ordinality as turn (id, at) join jobs w on w.id = turn.id
      where w.state <> 'parked' and w.run_at <= moment
      order by turn.at
      limit lane.most
      for update of w skip locked
    ) j
  ), found as (
    select f.id, f.run_at, f.lease, sum(f.size) over (
      order by f.n, f.turn, f.run_at, f.id rows between unbounded preceding and 1 preceding) as before
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
