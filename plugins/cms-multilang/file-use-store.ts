/** Which records of sites use a file of the media library, a database or an app. */
import type { NamedRecord, Sql, Uses } from "platform";
import type { FileUse, FileUses } from "../media/api.ts";

export function fileUses(sql: Sql): FileUses {
  return {
    privilege: "cms",
    find: (accountId, file, limit) => holding(sql, accountId, wordsOf(file), limit),
  };
}

export function uses(sql: Sql): Uses {
  return {
    privilege: "cms",
    async find(accountId, named, limit) {
      const words = addressesOf(named);
      const rows = words.length === 0 ? [] : await holding(sql, accountId, words, limit);
      return rows.map(({ model, id, name }) => {
        const kind = model.replace("Cms::", "").toLowerCase();
        return { kind, id, name, path: `/cms/${kind}s/${id}.json` };
      });
    },
  };
}

/** The records whose texts have one of these words. */
function holding(sql: Sql, accountId: number, words: readonly string[], limit: number) {
  return sql<FileUse[]>`
    select model, used.id, used.code, used.name, s.code as site_code from (
      select 'Cms::Site' as model, id, code, name, id as site_id, fields::text as texts
      from cms_sites where account_id = ${accountId}
      union all
      select 'Cms::Page', id, code, name, site_id, concat(content, fields)
      from cms_pages where account_id = ${accountId}
      union all
      select 'Cms::Paragraph', id, code, name, site_id, concat(content, fields)
      from cms_paragraphs where account_id = ${accountId}
      union all
      select 'Cms::Layout', id, code, name, site_id, concat(content, fields)
      from cms_layouts where account_id = ${accountId}
      union all
      select 'Cms::Article', id, code, title, site_id, concat(content, lead, fields)
      from cms_articles where account_id = ${accountId}
    ) used
    left join cms_sites s on s.account_id = ${accountId} and s.id = used.site_id
    where exists (select from unnest(${words}::text[]) word where strpos(texts, word) > 0)
    order by s.code nulls first, model, used.code limit ${limit}`;
}

/** The start of a public method's address, and an app's address with what may follow it. */
function addressesOf({ model, keys }: NamedRecord): string[] {
  if (model === "Core::Db") return keys.map((key) => `/core/db/${key}/`);
  const ends = ['"', "'", '\\"', "/", "?", "#"];
  return model === "Core::App" ? keys.flatMap((key) => ends.map((end) => `/a/${key}${end}`)) : [];
}

/** What a text has that uses the file: its address, or its place in quotes, in `fields` as JSON writes it. */
function wordsOf({ id, path }: { readonly id: string; readonly path: string }): string[] {
  const escaped = JSON.stringify(path).slice(1, -1);
  const quoted = [path, escaped, `/${path}`, `/${escaped}`].flatMap((one) => [`"${one}"`, `'${one}'`, `\\"${one}\\"`]);
  return [`/media/${id}/`, ...new Set(quoted)];
}
