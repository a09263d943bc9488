-- For ETag and If-Match: raised by what people change, not by what the server notes of a run.
alter table crons add column version integer not null default 1;
