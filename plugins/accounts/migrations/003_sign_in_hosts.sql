-- Hosts at which people have signed in. None of them may become a site's: its page would then stand where they type their
-- passwords. Without a port, since cookies have none either.
create table account_sign_in_hosts (
  account_id bigint not null references accounts on delete cascade,
  host text not null,
  created_at timestamptz not null default now(),
  primary key (host, account_id)
);
