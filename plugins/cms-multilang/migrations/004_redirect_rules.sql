-- Redirects that an editor writes, beside those that pages leave when they move (cms_redirects).
alter table cms_domains add constraint cms_domains_key unique (account_id, site_id, id);

create table cms_redirect_rules (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  site_id bigint not null,
  -- null = on every domain of the site
  domain_id bigint,
  path text not null check (path <> '' and octet_length(path) <= 2000),
  -- a path of the site (/offer), or an address (https://…)
  target text not null check (octet_length(target) <= 2000),
  status smallint not null check (status in (301, 302, 308)),
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (account_id, site_id) references cms_sites (account_id, id) on delete cascade,
  foreign key (account_id, site_id, domain_id) references cms_domains (account_id, site_id, id) on delete cascade,
  constraint cms_redirect_rules_unique_path unique nulls not distinct (site_id, path, domain_id)
);

create index cms_redirect_rules_by_site on cms_redirect_rules (account_id, site_id, id);
create index cms_redirect_rules_by_domain on cms_redirect_rules (account_id, site_id, domain_id);
