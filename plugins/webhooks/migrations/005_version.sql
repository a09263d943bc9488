-- For ETag and If-Match.
alter table webhooks add column version integer not null default 1;
