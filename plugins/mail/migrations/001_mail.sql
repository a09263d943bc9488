-- The mail server of an account that does not use that of the installation.
create table mail_servers (
  account_id bigint primary key references accounts on delete cascade,
  url text not null,
  username text,
  -- sealed; null = no sign-in
  password text,
  sender text not null,
  reply_to text,
  tls text check (tls in ('required', 'optional', 'none')),
  version integer not null default 1,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- An account's own words for a mail; those that are not here are the built-in ones.
create table mail_templates (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  code text not null,
  language text not null check (language in ('en', 'pl', 'de')),
  subject text not null,
  text text not null,
  -- null: made of the text
  html text,
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint mail_templates_unique_code unique (account_id, code, language)
);

-- The queue and the log in one.
create table mails (
  id uuid primary key,
  account_id bigint not null references accounts on delete cascade,
  recipient text not null,
  template text not null,
  -- null: the account's, whatever it is when the mail is sent
  language text,
  -- the template's values, sealed, because a link in them is a key; null once nothing is to be sent any more
  content text,
  state text not null default 'queued' check (state in ('queued', 'sent', 'failed', 'expired')),
  attempts integer not null default 0,
  -- which job is to send it: one with another number came too late
  run integer not null default 1,
  last_error text,
  message_id text,
  next_attempt_at timestamptz,
  -- after that it is of no use
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  sent_at timestamptz
);
create index mails_by_account on mails (account_id, id);
create index mails_by_age on mails (created_at);
create index mails_with_content on mails (expires_at) where content is not null;
