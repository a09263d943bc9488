-- Of a session: where from and by what browser its person signed in, so that they can tell their sessions apart.
alter table api_tokens add column address text;
alter table api_tokens add column browser text;
