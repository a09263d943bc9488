/** Fields as a table's, for what is no record: a form that people fill in. behaviour B.7. Pure. */
import type { Form } from "../api.ts";
import { asNew, checkRecord, refuse } from "../records/record.ts";
import { invalid } from "platform";
import { parseSchema } from "./schema.ts";

const mostFields = 30;

/** The form of these fields, or the mistakes in them. What refers to other records or to files cannot be asked for. */
export function formOf(fields: unknown, timezone: string): { form: Form } | { mistakes: string[] } {
  const parsed = parseSchema({ fields });
  if ("mistakes" in parsed) return parsed;
  const [table] = parsed.schema.tables.values();
  if (!table) return { mistakes: ["must be an object of name to type"] };
  if (table.fields.size > mostFields) return { mistakes: [`may have at most ${mostFields} fields`] };
  const foreign = [...table.fields].filter(
    ([, { link, rollup, unique, format }]) => link || rollup || unique || format === "file",
  );
  if (foreign.length > 0)
    return { mistakes: foreign.map(([name]) => `${name}: a link, a rollup, a file or \`unique\` is for tables`) };
  return {
    form: {
      take(given) {
        const unknown = Object.keys(given).filter((name) => !table.fields.has(name));
        if (unknown.length > 0)
          throw invalid(Object.fromEntries(unknown.map((name) => [name.slice(0, 60), ["is unknown"]])));
        const data = asNew({ timezone }, table, { ...given });
        refuse(checkRecord(table, data));
        return data;
      },
    },
  };
}
