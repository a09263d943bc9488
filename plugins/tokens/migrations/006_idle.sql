-- Of a session: it ends after so many seconds without a request; null = not before expires_at.
alter table api_tokens add column idle_seconds integer;
