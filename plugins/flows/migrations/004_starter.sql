-- What started a process, and the change at the root of all that led to it (null: nothing did, or it is not known).
alter table flow_processes add column starter_kind text;
alter table flow_processes add column starter_id text;
alter table flow_processes add column starter json;
alter table flow_processes add column trace text;
create index flow_processes_by_starter_kind on flow_processes (account_id, starter_kind, id);
create index flow_processes_by_starter on flow_processes (account_id, starter_kind, starter_id, id)
  where starter_id is not null;
create index flow_processes_by_trace on flow_processes (account_id, trace) where trace is not null;
-- A flow whose processes hardly ever fail: the few that did, without reading all of them.
create index flow_processes_of_flow_not_finished on flow_processes (account_id, flow_code, status, id)
  where status <> 'finished';
