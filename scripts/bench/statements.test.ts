import { expect, test } from "bun:test";
import { pgbenchScripts, statementsIn } from "./statements.ts";

const log = `2026-01-31 10:00:00.001 UTC [7] LOG:  duration: 0.062 ms  bind s1:
\tselect from records r
\twhere r.id = $1 and note = $2
2026-01-31 10:00:00.001 UTC [7] DETAIL:  Parameters: $1 = '7', $2 = NULL
2026-01-31 10:00:00.002 UTC [7] LOG:  duration: 0.053 ms  execute s1:
\tselect from records r
\twhere r.id = $1 and note = $2
2026-01-31 10:00:00.002 UTC [7] DETAIL:  Parameters: $1 = 'it''s {"a":true} \\, $2 = ''', $2 = NULL
2026-01-31 10:00:00.003 UTC [8] LOG:  duration: 0.1 ms  execute s2: select gin_clean_pending_list('records_fragments')
2026-01-31 10:00:00.004 UTC [8] LOG:  received SIGHUP, reloading configuration files
`.replaceAll("s1:\n", "s1: \n");

test("executions are read with their parameters", () => {
  expect(statementsIn(log)).toEqual([
    {
      text: "select from records r\n\twhere r.id = $1 and note = $2",
      parameters: [`it's {"a":true} \\, $2 = '`, undefined],
    },
    { text: "select gin_clean_pending_list('records_fragments')", parameters: [] },
  ]);
});

test("a script prepares the statement once on each connection and runs it with its values", () => {
  const scripts = pgbenchScripts(statementsIn(log), { newId: false });
  expect(scripts.join("====\n").split("\n")).toEqual([
    String.raw`\if :prepared = 0`,
    "prepare work as select from records r",
    "\twhere r.id = $1 and note = $2;",
    String.raw`\set prepared 1`,
    String.raw`\endif`,
    String.raw`execute work ('it''s {"a":true} \, $2 = ''', null);`,
    "",
  ]);
  const [made] = pgbenchScripts([{ text: "insert into records select $1, $2", parameters: ["1", "x"] }], {
    newId: true,
  });
  expect(made).toEndWith("execute work (uuidv7(), 'x');\n");
});
