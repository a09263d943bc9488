-- The programs of a flow, latest first.
create index flow_programs_of_flow on flow_programs (account_id, flow_id, id);
