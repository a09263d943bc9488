-- Keys hold the account, so that a PostgreSQL of several servers can distribute these tables by it (docs/sharding.md).
-- The unique keys of an account, its site and an id take the place of those of the id.
alter table cms_layouts drop constraint cms_layouts_pkey, add primary key (account_id, id);
alter table cms_pages drop constraint cms_pages_pkey, add primary key (account_id, id),
  drop constraint cms_pages_unique_path,
  add constraint cms_pages_unique_path unique nulls not distinct (site_id, path, locale, account_id);
drop index cms_home_pages_unique_path;
create unique index cms_home_pages_unique_path on cms_pages (account_id, site_id) where path = '';
alter table cms_paragraphs drop constraint cms_paragraphs_pkey, add primary key (account_id, id);
alter table cms_categories drop constraint cms_categories_pkey, add primary key (account_id, id),
  drop constraint cms_categories_unique_path,
  add constraint cms_categories_unique_path unique (site_id, path, account_id);
alter table cms_articles drop constraint cms_articles_pkey, add primary key (account_id, id),
  drop constraint cms_articles_unique_path,
  add constraint cms_articles_unique_path unique nulls not distinct (site_id, path, category_id, locale, account_id);
alter table cms_article_categories drop constraint cms_article_categories_pkey,
  add primary key (account_id, article_id, category_id);
alter table cms_redirects drop constraint cms_redirects_pkey, add primary key (account_id, id),
  drop constraint cms_redirects_unique_path,
  add constraint cms_redirects_unique_path unique nulls not distinct (site_id, path, locale, account_id);
alter table cms_redirect_rules drop constraint cms_redirect_rules_pkey, add primary key (account_id, id),
  drop constraint cms_redirect_rules_unique_path,
  add constraint cms_redirect_rules_unique_path unique nulls not distinct (site_id, path, domain_id, account_id);
alter table cms_previews drop constraint cms_previews_pkey, add primary key (account_id, token_hash);
