-- Flows: programs that the server runs. SPEC 4.3, CONTRACT 9.
create table flows (
  id uuid primary key,
  account_id bigint not null references accounts,
  code text not null,
  name text not null,
  kind text not null,
  -- json, not jsonb: a mutation sets its names in the order they were written
  fields json not null default '{}',
  program_id bigint not null,
  active boolean not null default true,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint flows_unique_code unique (account_id, code)
);

-- Every program that a flow has had: a process goes on with the one it started with, also when the flow is gone.
create table flow_programs (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  flow_id uuid not null,
  program json not null,
  created_at timestamptz not null default now()
);

create table flow_processes (
  account_id bigint not null,
  id uuid not null,
  flow_code text not null,
  program_id bigint not null,
  status text not null check (status in ('pending', 'finished', 'error')),
  -- json, not jsonb: whatever characters a remote has sent are stored as they came
  input json not null,
  data json,
  error text,
  -- where it stands and what it knows, in two columns because the second changes less; null when it is finished
  cursor json,
  memory json,
  -- the steps stored with the row; later ones are in flow_process_steps
  steps json not null,
  stored integer not null default 1,
  -- rises whenever somebody takes the process over: who has an older one writes nothing any more
  fence integer not null default 0,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (account_id, id)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index flow_processes_by_flow on flow_processes (account_id, flow_code, id);
create index flow_processes_not_finished on flow_processes (account_id, status, id) where status <> 'finished';
create index flow_processes_finished_at on flow_processes using brin (finished_at);

create table flow_process_steps (
  account_id bigint not null,
  process_id uuid not null,
  number integer not null,
  steps json not null,
  primary key (account_id, process_id, number),
  foreign key (account_id, process_id) references flow_processes on delete cascade
);
