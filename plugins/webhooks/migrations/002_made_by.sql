-- Null: made before this was kept.
alter table webhooks add column created_by_id bigint;
