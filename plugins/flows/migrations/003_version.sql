-- For ETag and If-Match.
alter table flows add column version integer not null default 1;
