-- Sites in several languages. SPEC 2.7, 8 and A, CONTRACT 11.
--
-- A composite foreign key carries the account and the site along, so that rows of two accounts or two sites can never
-- join, whatever a query forgets. Codes are unique in their site; `code` stands before `site_id` in those constraints, so
-- that a code without a site is found by them too. `revision` of a site grows in the transaction of every change of
-- anything of the site.

create table cms_sites (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  code text not null,
  name text not null,
  locale text not null check (locale in ('pl', 'en', 'fr', 'cs', 'sk', 'de', 'es', 'uk')),
  multilang boolean not null default false,
  fields jsonb not null default '{}' check (jsonb_typeof(fields) = 'object'),
  active boolean not null default true,
  revision bigint not null default 1,
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint cms_sites_unique_code unique (account_id, code),
  -- what foreign keys point at
  constraint cms_sites_key unique (account_id, id)
);

create table cms_domains (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  site_id bigint not null,
  -- a host in lower case, in ASCII (xn--…), with a port only where one was given; one host is one site's, of all accounts
  name text not null check (name = lower(name)) constraint cms_domains_unique_name unique,
  locale text check (locale in ('pl', 'en', 'fr', 'cs', 'sk', 'de', 'es', 'uk')),
  is_primary boolean not null default false,
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (account_id, site_id) references cms_sites (account_id, id) on delete cascade
);

create unique index cms_domains_unique_primary on cms_domains (site_id) where is_primary;
create index cms_domains_by_site on cms_domains (account_id, site_id, id);

create table cms_layouts (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  site_id bigint not null,
  code text not null,
  name text not null,
  content text not null default '',
  fields jsonb not null default '{}' check (jsonb_typeof(fields) = 'object'),
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (account_id, site_id) references cms_sites (account_id, id) on delete cascade,
  constraint cms_layouts_unique_code unique (account_id, code, site_id),
  constraint cms_layouts_key unique (account_id, site_id, id)
);

create table cms_pages (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  site_id bigint not null,
  code text not null,
  name text not null,
  -- without slashes at its ends; '' is the home page. An index entry holds at most 2,704 bytes.
  path text not null check (octet_length(path) <= 2000 and path !~ '^/|/$'),
  locale text check (locale in ('pl', 'en', 'fr', 'cs', 'sk', 'de', 'es', 'uk')),
  kind text not null default 'text',
  layout_id bigint,
  content text not null default '',
  fields jsonb not null default '{}' check (jsonb_typeof(fields) = 'object'),
  html_title text,
  html_description text,
  html_keywords text,
  based_on_page_id bigint,
  -- A copy of the master's path, and a copy of whether the master is a slave: both kept by the foreign key below. So
  -- the two rules about master and slave are checks of one row, and two requests at once cannot break them.
  based_on_path text,
  master_is_slave boolean not null default false,
  is_slave boolean not null generated always as (based_on_page_id is not null) stored,
  active boolean not null default true,
  position integer not null default 0,
  -- max-age of its Cache-Control; null = the server's own choice
  cache_seconds integer check (cache_seconds between 0 and 31536000),
  -- when what others inherit was last changed: "content", "html_title", "fields.title", "fields.pl.title" -> ISO time
  field_times jsonb not null default '{}',
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (account_id, site_id) references cms_sites (account_id, id) on delete cascade,
  foreign key (account_id, site_id, layout_id) references cms_layouts (account_id, site_id, id)
    on delete set null (layout_id),
  constraint cms_pages_unique_code unique (account_id, code, site_id),
  constraint cms_pages_key unique (account_id, site_id, id),
  constraint cms_pages_master_key unique (account_id, site_id, id, is_slave, path),
  -- SPEC 8: one for each locale, and at most one without
  constraint cms_pages_unique_path unique nulls not distinct (site_id, path, locale),
  -- SPEC A.4.4 (one site), A.4.5 (a destroyed master leaves its slaves standing alone)
  constraint cms_pages_master foreign key (account_id, site_id, based_on_page_id, master_is_slave, based_on_path)
    references cms_pages (account_id, site_id, id, is_slave, path)
    on update cascade on delete set null (based_on_page_id, based_on_path),
  -- MATCH SIMPLE asks nothing where a column is null
  constraint cms_pages_master_path check ((based_on_page_id is null) = (based_on_path is null)),
  constraint cms_pages_one_level check (not master_is_slave), -- SPEC A.4.2
  constraint cms_pages_not_itself check (based_on_page_id <> id), -- SPEC A.4.3
  constraint cms_pages_own_path check (based_on_path <> path), -- SPEC A.4.7
  constraint cms_pages_home_no_slave check (based_on_path <> '') -- SPEC A.9
);

-- SPEC 8: one home page a site, whatever its locale
create unique index cms_home_pages_unique_path on cms_pages (site_id) where path = '';
create index cms_pages_by_site on cms_pages (account_id, site_id, position, id);
create index cms_pages_by_master on cms_pages (based_on_page_id) where based_on_page_id is not null;
create index cms_pages_by_layout on cms_pages (layout_id) where layout_id is not null;

-- Without a page: of the whole site; without a site: of every site of the account, but one that has its own of the code.
create table cms_paragraphs (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts on delete cascade,
  site_id bigint,
  page_id bigint check (page_id is null or site_id is not null),
  code text not null,
  name text not null,
  content text not null default '',
  fields jsonb not null default '{}' check (jsonb_typeof(fields) = 'object'),
  position integer not null default 0,
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (account_id, site_id) references cms_sites (account_id, id) on delete cascade,
  foreign key (account_id, site_id, page_id) references cms_pages (account_id, site_id, id) on delete cascade,
  constraint cms_paragraphs_unique_code unique nulls not distinct (account_id, code, site_id)
);

create index cms_paragraphs_by_page on cms_paragraphs (page_id, position, id);
create index cms_paragraphs_by_site on cms_paragraphs (account_id, site_id);

create table cms_categories (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  site_id bigint not null,
  code text not null,
  name text not null,
  -- `<page path>/<category path>` lists its articles; null = none
  path text check (octet_length(path) <= 2000 and path !~ '^/|/$' and path <> ''),
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (account_id, site_id) references cms_sites (account_id, id) on delete cascade,
  constraint cms_categories_unique_code unique (account_id, code, site_id),
  constraint cms_categories_key unique (account_id, site_id, id),
  constraint cms_categories_unique_path unique (site_id, path)
);

create table cms_articles (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  site_id bigint not null,
  code text not null,
  -- the main one; further ones stand in cms_article_categories
  category_id bigint,
  locale text check (locale in ('pl', 'en', 'fr', 'cs', 'sk', 'de', 'es', 'uk')),
  path text not null check (octet_length(path) <= 2000 and path !~ '^/|/$' and path <> ''),
  title text not null,
  lead text,
  content text not null default '',
  fields jsonb not null default '{}' check (jsonb_typeof(fields) = 'object'),
  html_title text,
  html_description text,
  published_at timestamptz,
  active boolean not null default true,
  version integer not null default 1,
  created_by_id bigint,
  updated_by_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (account_id, site_id) references cms_sites (account_id, id) on delete cascade,
  foreign key (account_id, site_id, category_id) references cms_categories (account_id, site_id, id)
    on delete set null (category_id),
  constraint cms_articles_unique_code unique (account_id, code, site_id),
  constraint cms_articles_key unique (account_id, site_id, id),
  constraint cms_articles_unique_path unique nulls not distinct (site_id, path, category_id, locale)
);

create index cms_articles_by_category on cms_articles (category_id, published_at desc, id desc);
create index cms_articles_by_site on cms_articles (account_id, site_id, published_at desc, id desc);

create table cms_article_categories (
  account_id bigint not null,
  site_id bigint not null,
  article_id bigint not null,
  category_id bigint not null,
  -- their order in the article
  position integer not null,
  primary key (article_id, category_id),
  foreign key (account_id, site_id, article_id) references cms_articles (account_id, site_id, id) on delete cascade,
  foreign key (account_id, site_id, category_id) references cms_categories (account_id, site_id, id) on delete cascade
);

create index cms_article_categories_by_category on cms_article_categories (category_id, article_id);

-- Where a page stood before. It points at the page and not at a path: so chains and loops cannot come to be.
-- A page that stands at the path now goes first.
create table cms_redirects (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  site_id bigint not null,
  -- path and locale that the page had
  path text not null check (octet_length(path) <= 2000),
  locale text,
  page_id bigint not null,
  created_at timestamptz not null default now(),
  foreign key (account_id, site_id) references cms_sites (account_id, id) on delete cascade,
  foreign key (account_id, site_id, page_id) references cms_pages (account_id, site_id, id) on delete cascade,
  constraint cms_redirects_unique_path unique nulls not distinct (site_id, path, locale)
);

create index cms_redirects_by_page on cms_redirects (page_id);
