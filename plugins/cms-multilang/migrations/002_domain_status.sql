-- With several accounts a domain is pending until its account has proved that it is theirs: it serves nothing, and leaves
-- the host to whoever proves it first. Domains that stand already stay as they are.
alter table cms_domains
  add column status text not null default 'approved' check (status in ('pending', 'approved')),
  -- what a TXT record or a file must say to prove it
  add column proof text not null default '';
alter table cms_domains alter column status drop default, alter column proof drop default;

alter table cms_domains drop constraint cms_domains_unique_name;
alter table cms_domains add constraint cms_own_domains_unique_name unique (account_id, name);
create unique index cms_domains_unique_name on cms_domains (name) where status = 'approved';
