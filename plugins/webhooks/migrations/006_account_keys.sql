-- Keys begin with the account, so that a PostgreSQL of several servers can distribute webhooks and deliveries by it
-- (docs/sharding.md); the queue and the rates stay whole, and nothing of them refers to a webhook. What a server of an
-- earlier version names as a conflict stays unique.
alter table webhook_rates drop constraint webhook_rates_webhook_id_fkey;
alter table webhooks drop constraint webhooks_pkey, add primary key (account_id, id);
alter table webhook_deliveries drop constraint webhook_deliveries_pkey, add primary key (account_id, id);
alter index webhook_deliveries_event rename to webhook_deliveries_before;
create unique index webhook_deliveries_event on webhook_deliveries (account_id, webhook_id, event_id)
  where event_id is not null;

-- As in 003_rates.sql, by accounts.
create or replace function claim_deliveries(
  webhooks_in bigint[], limits_in integer[], since_in timestamptz[], lease_in integer, worker_in uuid)
returns table (
  id bigint, webhook_id bigint, message_id text, source_type text, kind text, order_key text, body text, causation json,
  attempts integer, attempts_before integer, due_at timestamptz, sent_ms_ago float8, sent_here boolean)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare lane record; last_request record;
begin
  perform set_config('synchronous_commit', 'off', true);
  for lane in
    select l.webhook, l.most, l.since, w.rate_limit
    from unnest(webhooks_in, limits_in, since_in) as l (webhook, most, since)
    cross join lateral (
      select q.account_id from webhook_queue q where q.webhook_id = l.webhook and q.due_at >= l.since limit 1) waiting
    join webhooks w on w.account_id = waiting.account_id and w.id = l.webhook and w.active order by 1
  loop
    continue when not pg_try_advisory_xact_lock(hashtext('webhook_queue'), (lane.webhook % 2147483647)::integer);
    continue when exists (
      select from webhook_queue q
      where q.webhook_id = lane.webhook and q.worker is not null and q.worker <> worker_in and q.due_at > now());
    sent_ms_ago := null;
    sent_here := null;
    if lane.rate_limit is not null then
      -- Read only now: whoever held the webhook wrote its last request down before, or together with, letting go of it.
      select s.at, s.here into last_request from (
        select r.sent_at as at, r.worker = worker_in as here from webhook_rates r where r.webhook_id = lane.webhook
        union all
        -- A process that died wrote nothing down: it may have sent until its lease ended.
        -- (Not of the bare column: through the index by it, all that waits would be read.)
        select max(q.due_at + interval '0'), false from webhook_queue q
        where q.webhook_id = lane.webhook and q.worker is not null and q.worker <> worker_in
      ) s where s.at is not null order by s.at desc limit 1;
      sent_ms_ago := 1000 * extract(epoch from clock_timestamp() - last_request.at);
      sent_here := last_request.here;
    end if;
    return query
    with due as materialized (
      select q.delivery_id, q.due_at from webhook_queue q
      where q.webhook_id = lane.webhook and q.due_at >= lane.since and q.due_at <= now()
      order by q.due_at, q.delivery_id
      limit lane.most
      for update skip locked
    ), held as (
      update webhook_queue q set worker = worker_in, due_at = now() + make_interval(secs => lease_in)
      from due where q.delivery_id = due.delivery_id
      returning q.account_id, q.delivery_id, due.due_at
    )
    select d.id, d.webhook_id, d.message_id, d.source_type, d.kind, d.order_key, d.body, d.causation, d.attempts,
      d.attempts_before, held.due_at, claim_deliveries.sent_ms_ago, claim_deliveries.sent_here
    from held join webhook_deliveries d on d.account_id = held.account_id and d.id = held.delivery_id;
  end loop;
end $$;

-- As in 004_waits.sql, by accounts.
create or replace function settle_deliveries(
  ids_in bigint[], statuses_in text[], delays_in float8[], response_statuses_in integer[], response_bodies_in text[],
  errors_in text[], durations_in integer[], attempted_in timestamptz[], worker_in uuid)
returns setof bigint language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
begin
  return query
  with r as materialized (
    -- What is off or gone meanwhile is not tried again.
    select u.id, u.delay, u.response_status, u.response_body, u.error, u.duration_ms, u.attempted_at,
      case when u.status = 'pending' and not exists (
        select from webhook_queue q join webhooks w on w.account_id = q.account_id and w.id = q.webhook_id and w.active where q.delivery_id = u.id
      ) then 'failed' else u.status end as status
    from unnest(ids_in, statuses_in, delays_in, response_statuses_in, response_bodies_in, errors_in, durations_in,
      attempted_in) as u (id, status, delay, response_status, response_body, error, duration_ms, attempted_at)
  ), gone as (
    delete from webhook_queue q using r
    where q.delivery_id = r.id and q.worker = worker_in and r.status <> 'pending' returning q.account_id, q.delivery_id
  ), later as (
    update webhook_queue q set worker = null, due_at = now() + make_interval(secs => r.delay), waits_since = now() from r
    where q.delivery_id = r.id and q.worker = worker_in and r.status = 'pending' returning q.account_id, q.delivery_id
  ), mine as materialized (
    select account_id, delivery_id from gone union all select account_id, delivery_id from later
  )
  update webhook_deliveries d
  set status = r.status, attempts = d.attempts + 1, response_status = r.response_status,
    response_body = r.response_body, error = r.error, duration_ms = r.duration_ms, attempted_at = r.attempted_at,
    next_attempt_at = case when r.status = 'pending' then now() + make_interval(secs => r.delay) end
  from mine join r on r.id = mine.delivery_id
  where d.account_id = mine.account_id and d.id = r.id
  returning d.id;
end $$;
