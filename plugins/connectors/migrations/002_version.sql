-- For ETag and If-Match.
alter table connectors add column version integer not null default 1;
