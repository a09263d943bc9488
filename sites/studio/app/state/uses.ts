/** Who names a record by its code: asked for before it gets another one, or goes. */
import { get } from "../server/request.ts";
import { isolated } from "../bidi.ts";
import { filled, type Resource } from "../resources/resources.ts";
import { isMap, textOf } from "../resources/values.ts";
import { questions } from "./questions.svelte.ts";
import { filledIn, text } from "./text.svelte.ts";

export interface RemovedItem {
  readonly name: string;
  /** The values of its path's parameters. */
  readonly values: readonly string[];
}

/** Whether nobody names any of these, or the person goes on all the same. `says` what it does to who names them. */
export async function mayLose(
  resource: Resource | undefined,
  losing: readonly RemovedItem[],
  says = text.messages.usedBy,
): Promise<boolean> {
  const list = resource?.children.find((path) => path.endsWith("/used_by"));
  if (list === undefined) return true;
  const uses = await Promise.all(
    losing.map(async (one) => ({ ...one, lines: await linesOf(filled(list, one.values)) })),
  );
  const used = uses.filter(({ lines }) => lines.length > 0);
  if (used.length === 0) return true;
  const names = used.map(({ name }) => isolated(name)).join(", ");
  const lines = used.flatMap((one) =>
    one.lines.map((line) => (used.length > 1 ? `${isolated(one.name)}: ${line}` : line)),
  );
  return questions.ask(filledIn(text.messages.goOnUsed, { name: names }), { says, lines });
}

/** None if they cannot be asked for: that keeps nobody from what they may do. */
async function linesOf(path: string): Promise<readonly string[]> {
  const answer = await get(`${path}.json`).catch(() => undefined);
  const uses: readonly unknown[] = Array.isArray(answer?.json) ? answer.json : [];
  return uses.flatMap((use) => (isMap(use) ? [lineOf(textOf(use["path"]), textOf(use["name"]))] : []));
}

/** `/account/webhooks/3.json` is a webhook. */
function lineOf(path: string, name: string): string {
  return `${text.singular(path.slice(0, path.lastIndexOf("/")))} ${isolated(name)}`;
}
