-- Who works on a request whose answer is not there yet: "<process>/<claim>". Null beside an answer.
alter table idempotency_keys add column claimed_by text;
-- Claims of an earlier version have nobody who works on them.
delete from idempotency_keys where status is null;
