-- By what people have signed in, as `deviceOf` names it: `Firefox, Linux`. A new one is told them by mail.
create table sign_in_devices (
  account_id bigint not null references accounts on delete cascade,
  user_id bigint not null references users on delete cascade,
  device text not null,
  last_at timestamptz not null default now(),
  primary key (user_id, device)
);
create index sign_in_devices_by_account on sign_in_devices (account_id);
create index sign_in_devices_by_time on sign_in_devices (last_at);
