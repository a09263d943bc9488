-- The invitation that stands for the password in this sign-in.
alter table sign_in_steps add column opened_by_id bigint references api_tokens on delete cascade;
create index sign_in_steps_by_opener on sign_in_steps (opened_by_id) where opened_by_id is not null;
