/** How a record `r` is printed as JSON text by PostgreSQL, so that answers are passed through as they come. CONTRACT 7. */

/** The form of `Date.toJSON`; the pool's sessions are in UTC. */
const time = (column: string) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const head = `'{"id":"' || r.id || '","data":' || `;
const tail = `',"created_at":"' || ${time("r.created_at")} || '","updated_at":"' || ${time("r.updated_at")} || '"}'`;

/** { id, data, table_name, created_at, updated_at } */
export const nestedAnswer = `${head}r.data::text
  || ',"table_name":' || case when r.table_name = '' then 'null' else to_json(r.table_name)::text end || ${tail}`;

/** { id, data, created_at, updated_at }, the form of the public methods; `data` is an expression of jsonb. */
export const publicAnswer = (data: string) => `${head}(${data})::text || ${tail}`;

/** { id, created_at, updated_at, … the fields }: a field of one of those three names gives way. */
export const flatAnswer = (data: string) =>
  `'{"id":"' || r.id || '","created_at":"' || ${time("r.created_at")} || '","updated_at":"' || ${time("r.updated_at")} || '"'
  || coalesce(nullif(',' || substr(${withoutOwn(data)}::text, 2), ',}'), '}')`;

// Looked for first: to take a key away builds the whole value anew.
const withoutOwn = (data: string) =>
  `(case when ${data} ?| '{id,created_at,updated_at}' then ${data} - '{id,created_at,updated_at}'::text[] else ${data} end)`;

/** Only these fields of a record's data; `names` is an expression of text[]. */
export const selectedData = (names: string) =>
  `(select coalesce(jsonb_object_agg(e.key, e.value), '{}') from jsonb_each(r.data) e where e.key = any(${names}))`;
