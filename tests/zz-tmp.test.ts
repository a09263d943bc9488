import { test } from "bun:test";
import { startTestApp } from "./harness.ts";
test("scale", async () => {
  const app = await startTestApp();
  const [site] = await app.sql`insert into cms_sites (account_id, code, name, locale, multilang) select id, 'big', 'big', 'pl', true from accounts limit 1 returning id, account_id`;
  await app.sql`insert into cms_domains (account_id, site_id, name, locale, is_primary) values (${site!.accountId}, ${site!.id}, 'big.test', 'pl', true), (${site!.accountId}, ${site!.id}, 'bigen.test', 'en', false)`;
  await app.sql`insert into cms_pages (account_id, site_id, code, name, path, locale, content, fields) select ${site!.accountId}, ${site!.id}, 'p'||n, 'P', 'p/'||n, 'pl', '<html lang="{{ content_lang }}">{{ seo_head }} '||n, '{"pl":{"title":"a"},"en":{"title":"b"}}' from generate_series(1, 50000) n`;
  await app.sql`insert into cms_pages (account_id, site_id, code, name, path, locale, based_on_page_id, based_on_path) select account_id, site_id, code||'-en', 'P', 'e/'||code, 'en', id, path from cms_pages where site_id = ${site!.id}`;
  await app.sql`analyze`;
  let at = performance.now();
  const c = await app.get("/cms/sites/big/check.json"); console.log(c.status, c.headers.get("x-total-count"), c.json.slice(0,2), performance.now() - at);
  at = performance.now();
  const m = await app.get("/cms/sites/big/translations.json?limit=100&offset=40000"); console.log(m.status, m.headers.get("x-total-count"), performance.now() - at);
  await app.stop();
}, 120000);
