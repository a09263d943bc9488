-- The few flows that tell somebody when they fail, which each inbox looks for.
create index flows_with_alarm on flows (account_id) where (fields -> 'alarm') is not null;
