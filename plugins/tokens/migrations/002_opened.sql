-- When a web_token opened a session at auto_login, which it does once: its address may stay in a history or a log.
alter table api_tokens add column opened_at timestamptz;
