-- When the last request of a webhook with a rate limit was sent: its rate holds when another process goes on with it,
-- and after a restart. A table of its own: writers of deliveries hold a shared lock on the row of `webhooks`.
create table webhook_rates (
  webhook_id bigint primary key references webhooks on delete cascade,
  sent_at timestamptz not null,
  -- who sent it: that process remembers the time more exactly than this row
  worker uuid not null
) with (
  fillfactor = 50,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);

-- As in 001_webhooks.sql, and for a webhook with a rate limit: how long ago its last request was sent, and whether this
-- worker sent it.
drop function claim_deliveries(bigint[], integer[], timestamptz[], integer, uuid);
create function claim_deliveries(
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
    join webhooks w on w.id = l.webhook and w.active order by 1
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
      returning q.delivery_id, due.due_at
    )
    select d.id, d.webhook_id, d.message_id, d.source_type, d.kind, d.order_key, d.body, d.causation, d.attempts,
      d.attempts_before, held.due_at, claim_deliveries.sent_ms_ago, claim_deliveries.sent_here
    from held join webhook_deliveries d on d.id = held.delivery_id;
  end loop;
end $$;
