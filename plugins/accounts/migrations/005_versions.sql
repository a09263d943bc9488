-- For ETag and If-Match.
alter table users add column version integer not null default 1;
alter table units add column version integer not null default 1;
-- of all settings of the account together
alter table accounts add column settings_version integer not null default 1;
