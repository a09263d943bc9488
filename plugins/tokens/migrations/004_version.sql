-- For ETag and If-Match: raised by what people change, not by the use of a token.
alter table api_tokens add column version integer not null default 1;
