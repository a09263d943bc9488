/** Prompts and instructions over the protocol. A model gets no token to read: the connection has it. */
import { invalid, isObject, type BaseContext, type InnerAnswer } from "platform";
import type { Session } from "./tools/tool.ts";

export interface PromptFacts {
  readonly code: string;
  readonly name: string;
  readonly description: string | undefined;
  /** Of a stored prompt: what a caller may send with it. */
  readonly arguments: readonly string[];
}

type Templates = Pick<BaseContext["liquid"], "variablesOf">;

const mostPrompts = 500;
/** What the server fills in. */
const filledIn = new Set(["TOKEN", "api_token", "ACCOUNT_URL", "account_url", "base_url", "date"]);

/** Stored prompts and built-in ones, each code once: `instructions` are the built-in `*_api`. */
export async function listPrompts(session: Session, liquid: Templates) {
  const stored = session.caller.privileges.has("prompts") ? await rowsAt(session, liquid, "/core/prompts") : [];
  const builtIn = await rowsAt(session, liquid, "/core/prompts/system");
  const isInstruction = ({ code }: PromptFacts) => code.endsWith("_api");
  const byCode = new Map<string, PromptFacts>();
  for (const prompt of [...builtIn.filter(isInstruction), ...stored, ...builtIn]) {
    if (!prompt.code.endsWith("_extra") && !byCode.has(prompt.code)) byCode.set(prompt.code, prompt);
  }
  const all = [...byCode.values()];
  const instructions = new Set(builtIn.filter(isInstruction).map(({ code }) => code));
  return {
    prompts: all.filter(({ code }) => !instructions.has(code)),
    instructions: all.filter(({ code }) => instructions.has(code)),
  };
}

/** The rendered prompt, found through the cascade. `date` and others are its parameters. */
export async function readPrompt(
  session: Session,
  code: string,
  params: Readonly<Record<string, string>> = {},
): Promise<InnerAnswer> {
  if (!/^[\w-][\w.-]{0,99}$/.test(code)) throw invalid({ code: ["is no code"] });
  const query = new URLSearchParams(params);
  const path = `/core/prompt/${code}.md${query.size > 0 ? `?${query}` : ""}` as const;
  const answer = await session.ask({ method: "GET", path });
  return { ...answer, body: session.withoutToken(answer.body) };
}

/** The names that the text of a stored prompt reads. */
function argumentsOf(content: unknown, liquid: Templates): string[] {
  if (typeof content !== "string") return [];
  const names = liquid.variablesOf(content).map((path) => path.split(/[.[]/, 1)[0] ?? "");
  return [...new Set(names)].filter((name) => /^\w{1,100}$/.test(name) && !filledIn.has(name)).slice(0, 50);
}

async function rowsAt({ ask }: Session, liquid: Templates, path: `/${string}`): Promise<PromptFacts[]> {
  const found: PromptFacts[] = [];
  // A page of long prompts ends early.
  for (let total = 1, offset = 0; offset < Math.min(total, mostPrompts);) {
    const { status, body, headers } = await ask({
      method: "GET",
      path: `${path}?limit=${mostPrompts}&offset=${offset}`,
    });
    const rows: unknown = status === 200 ? JSON.parse(body) : [];
    if (!Array.isArray(rows) || rows.length === 0) break;
    found.push(...rows.flatMap((row) => factsOf(row, liquid)));
    total = Number(headers["x-total-count"]);
    offset += rows.length;
  }
  return found;
}

/** Without the contents: those of all prompts are too much to keep. */
function factsOf(row: unknown, liquid: Templates): PromptFacts[] {
  if (!isObject(row) || typeof row["code"] !== "string") return [];
  const { code, name, ai_placeholder: hint, content } = row;
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  return [{ code, name: text(name) ?? code, description: text(hint), arguments: argumentsOf(content, liquid) }];
}
