-- What a change of a record has started, by the webhooks that follow it.
create index flow_processes_by_record on flow_processes (account_id, (starter ->> 'record_id'), id)
  where starter_kind = 'webhook';
