-- Only if one of these fields has changed.
alter table webhooks add column changed jsonb;
