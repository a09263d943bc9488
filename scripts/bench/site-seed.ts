/** Sites to measure: a single page as large as pages get, and a site of many pages in four languages. */
import type { Sql } from "../../runtime/db.ts";
import { adminToken, type Server } from "./processes.ts";

export const layout = `<!doctype html>
<html lang="{{ html_lang }}"><head><meta charset="utf-8"><title>{{ html_title | escape }}</title>{{ seo_head }}</head>
<body><header>{% for entry in menu %}<a href="/{{ entry.path }}">{{ entry.name | escape }}</a>{% endfor %}
{% for entry in lang_switch %}<a href="{{ entry.url }}">{{ entry.name }}</a>{% endfor %}</header>
<main>{{ content }}</main><footer>{{ layout.foot }}</footer></body></html>`;

/** About 31 kB of HTML; \`params\` keeps it out of the cache. */
export const content = `<h1>{{ title }}</h1>{{ text }}
{% for item in items %}<section class="item"><h2>{{ item.name | escape }}</h2><p>{{ item.text }}</p>
{% if item.price > 50 %}<strong>{{ item.price | times: 1.23 | round: 2 }}</strong>{% else %}<em>{{ item.price }}</em>{% endif %}</section>{% endfor %}
<ul>{% for item in items %}<li>{{ forloop.index }}. <a href="/{{ item.name | downcase }}">{{ item.name }}</a> {{ item.text | truncate: 40 }}</li>{% endfor %}</ul>`;

const items = Array.from({ length: 50 }, (_, index) => ({
  name: `Item ${index}`,
  price: index * 2,
  text: `${"Text of an item that says what it is, and what it is good for. ".repeat(4)}${index}`,
}));
export const fields = {
  title: "A page",
  text: `<p>${"A paragraph of text. ".repeat(200)}</p>`,
  items,
  menu: Array.from({ length: 20 }, (_, index) => ({ path: `p${index}`, name: `Page ${index}` })),
  en: { title: "An English page" },
};
export const layoutFields = { foot: "The foot of every page" };
export const uncached = "<!-- {{ params.nothing }} -->";

type Body = Readonly<Record<string, unknown>>;

export async function post(server: Server, kind: string, body: Body): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${server.port}/cms/${kind}s.json`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ [kind]: body }),
  });
  if (response.status !== 201) throw new Error(`the ${kind} was not made: ${await response.text()}`);
}

export async function remove(server: Server, kind: string, ref: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${server.port}/cms/${kind}s/${ref}.json`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${adminToken}` },
  });
  if (response.status !== 204) throw new Error(`the ${kind} was not deleted: ${await response.text()}`);
}

/**
 * `<code>.test` (pl), `en.<code>.test` and `all.<code>.test` (without a locale), with `pages` small pages: `p0`, `p2` …
 * and a slave of each.
 */
export async function seedSite(server: Server, sql: Sql, code: string, pages: number): Promise<void> {
  await post(server, "site", { code, name: code, locale: "pl", multilang: true });
  await post(server, "layout", {
    code: `${code}-layout`,
    name: "L",
    site_code: code,
    content: layout,
    fields: layoutFields,
  });
  const small = { title: "A page", menu: fields.menu };
  await sql`
    insert into cms_pages (account_id, site_id, code, name, path, locale, layout_id, content, fields)
    select s.account_id, s.id, ${code} || '-' || n, 'Page ' || n, 'p' || n, 'pl', l.id,
      ${`<h1>{{ title }}</h1>${uncached}`}, ${sql.json(small)}
    from cms_sites s join cms_layouts l on l.site_id = s.id, generate_series(0, ${pages - 1}::int, 2) n
    where s.code = ${code}`;
  await sql`
    insert into cms_pages (
      account_id, site_id, code, name, path, locale, based_on_page_id, based_on_path, fields)
    select m.account_id, m.site_id, m.code || '-en', m.name, m.path || '-en', 'en', m.id, m.path, '{}'
    from cms_pages m join cms_sites s on s.id = m.site_id where s.code = ${code} and m.locale = 'pl'`;
  await sql`vacuum (analyze) cms_pages`;
  await post(server, "domain", { name: `${code}.test`, site_code: code, locale: "pl" });
  await post(server, "domain", { name: `en.${code}.test`, site_code: code, locale: "en" });
  await post(server, "domain", { name: `all.${code}.test`, site_code: code });
}
