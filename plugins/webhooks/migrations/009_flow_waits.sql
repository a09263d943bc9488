-- Steps of flows that wait for an event. A row stays until its process has ended: a step that runs again finds what came.
create table flow_waits (
  account_id bigint not null references accounts on delete cascade,
  process_id uuid not null,
  step_key text not null,
  flow_code text not null,
  status text not null default 'made' check (status in ('made', 'open', 'come', 'expired')),
  source_type text not null,
  kind text not null,
  filter json not null,
  changed json,
  -- one value of the filter, by which an event finds it among many; '' if it has none
  token text not null,
  -- who has saved the programs that run: ids, or null where nobody has
  authors json not null,
  -- events of this job and earlier ones came before the step began
  after_job bigint,
  data json,
  expires_at timestamptz not null,
  primary key (account_id, process_id, step_key)
);
create index flow_waits_of_event on flow_waits (account_id, source_type, kind, token) where status in ('made', 'open');
create index flow_waits_expires_at on flow_waits (expires_at);
