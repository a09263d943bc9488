-- Links in mails by which people set a password: an invitation, or a new password for who has forgotten theirs.
create table password_links (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null references users on delete cascade,
  purpose text not null check (purpose in ('invitation', 'reset')),
  -- SHA-256 in hexadecimal
  token_hash text not null constraint password_links_unique_token_hash unique,
  -- where it was sent: with another address of the person it does not work
  email text not null,
  language text,
  -- the person was made for this invitation and never came in: they are switched on by it, and deleted with it
  is_new boolean not null default false,
  invited_by_id bigint,
  -- in the log of mails
  mail_id uuid,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index password_links_by_account on password_links (account_id, id);
create index password_links_by_user on password_links (user_id);
create unique index password_links_invited on password_links (user_id) where purpose = 'invitation';
create index password_links_to_prune on password_links (expires_at);
