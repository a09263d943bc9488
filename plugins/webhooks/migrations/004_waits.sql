-- Since when a delivery waits for `due_at`. After the database's clock was set back, the same wait is counted from the
-- time that it shows now. Null: it waits since before this column was made, and keeps its time.
alter table webhook_queue add column waits_since timestamptz;
alter table webhook_queue alter column waits_since set default now();

-- As in 001_webhooks.sql, with `waits_since`.
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
        select from webhook_queue q join webhooks w on w.id = q.webhook_id and w.active where q.delivery_id = u.id
      ) then 'failed' else u.status end as status
    from unnest(ids_in, statuses_in, delays_in, response_statuses_in, response_bodies_in, errors_in, durations_in,
      attempted_in) as u (id, status, delay, response_status, response_body, error, duration_ms, attempted_at)
  ), gone as (
    delete from webhook_queue q using r
    where q.delivery_id = r.id and q.worker = worker_in and r.status <> 'pending' returning q.delivery_id
  ), later as (
    update webhook_queue q set worker = null, due_at = now() + make_interval(secs => r.delay), waits_since = now() from r
    where q.delivery_id = r.id and q.worker = worker_in and r.status = 'pending' returning q.delivery_id
  ), mine as materialized (
    select delivery_id from gone union all select delivery_id from later
  )
  update webhook_deliveries d
  set status = r.status, attempts = d.attempts + 1, response_status = r.response_status,
    response_body = r.response_body, error = r.error, duration_ms = r.duration_ms, attempted_at = r.attempted_at,
    next_attempt_at = case when r.status = 'pending' then now() + make_interval(secs => r.delay) end
  from mine join r on r.id = mine.delivery_id
  where d.id = r.id
  returning d.id;
end $$;

-- As in 001_webhooks.sql, with `waits_since`.
create or replace function promote_deliveries(webhooks_in bigint[], order_keys_in text[])
returns table (account_id bigint, webhook_id bigint) language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare pair record;
begin
  for pair in select distinct p.webhook, p.order_key from unnest(webhooks_in, order_keys_in) as p (webhook, order_key)
    order by p.webhook, p.order_key
  loop
    return query
    update webhook_queue q set due_at = now(), waits_since = now()
    where q.due_at = 'infinity' and q.delivery_id = (
      select h.delivery_id from webhook_queue h
      where h.webhook_id = pair.webhook and h.order_key = pair.order_key and h.order_key is not null
      order by h.delivery_id limit 1)
    returning q.account_id, q.webhook_id;
  end loop;
end $$;
