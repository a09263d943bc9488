-- As claim_deliveries, and in the order of webhooks_in only as many as have bytes_in bytes together, with the one that
-- reaches them.
create function claim_deliveries_within(
  webhooks_in bigint[], limits_in integer[], since_in timestamptz[], lease_in integer, bytes_in bigint, worker_in uuid)
returns table (
  id bigint, account_id bigint, webhook_id bigint, message_id text, source_type text, kind text, order_key text, body text, bytes integer,
  causation json, attempts integer, attempts_before integer, due_at timestamptz, sent_ms_ago float8, sent_here boolean)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare lane record; last_request record; bytes_left bigint := bytes_in;
begin
  perform set_config('synchronous_commit', 'off', true);
  for lane in
    select l.webhook, l.most, l.since, w.rate_limit
    from unnest(webhooks_in, limits_in, since_in) with ordinality as l (webhook, most, since, n)
    cross join lateral (
      select q.account_id from webhook_queue q where q.webhook_id = l.webhook and q.due_at >= l.since limit 1) waiting
    join webhooks w on w.account_id = waiting.account_id and w.id = l.webhook and w.active order by l.n
  loop
    exit when bytes_left <= 0;
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
    for id, account_id, webhook_id, message_id, source_type, kind, order_key, body, bytes, causation, attempts,
      attempts_before, due_at in
      with due as materialized (
        select q.account_id, q.delivery_id, q.due_at from webhook_queue q
        where q.webhook_id = lane.webhook and q.due_at >= lane.since and q.due_at <= now()
        order by q.due_at, q.delivery_id
        limit lane.most
        for update skip locked
      ), sized as (
        select due.*, octet_length(d.body) as bytes, sum(octet_length(d.body)) over (
          order by due.due_at, due.delivery_id rows between unbounded preceding and 1 preceding) as before
        from due join webhook_deliveries d on d.account_id = due.account_id and d.id = due.delivery_id
      ), held as (
        update webhook_queue q set worker = worker_in, due_at = now() + make_interval(secs => lease_in)
        from sized where q.delivery_id = sized.delivery_id and coalesce(sized.before, 0) < bytes_left
        returning q.account_id, q.delivery_id, sized.due_at, sized.bytes
      )
      select d.id, d.account_id, d.webhook_id, d.message_id, d.source_type, d.kind, d.order_key, d.body, held.bytes,
        d.causation, d.attempts, d.attempts_before, held.due_at
      from held join webhook_deliveries d on d.account_id = held.account_id and d.id = held.delivery_id
    loop
      bytes_left := bytes_left - bytes;
      return next;
    end loop;
  end loop;
end $$;
