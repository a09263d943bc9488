/** Flows that are marked `tool: true` as tools of their own. */
import { isObject, parseExactly, sha256, type Route } from "platform";
import { answerMistake, schemaMistake } from "../../llm/api.ts";
import { failed, resultOf, shortened, type ToolResult } from "../answer.ts";
import { isOpen } from "../things.ts";
import type { Session } from "./tool.ts";

/** A tool as the protocol lists it. */
export interface ListedTool {
  [key: string]: unknown;
  name: string;
  title: string;
  description: string;
  inputSchema: { [key: string]: unknown; type: "object" };
  annotations: Record<string, unknown>;
}

const prefix = "flow_";
/** Names that every client takes; some refuse a whole connection because of another one. */
const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
/** More than that many tools help no model. */
const mostFlows = 100;
const waitSeconds = 25;

export async function listFlowTools(session: Session): Promise<ListedTool[]> {
  if (!session.routes.some((route) => isRun(route) && isOpen(route, session.caller))) return [];
  return (await toolFlows(session)).flatMap((row) => listed(row));
}

async function toolFlows(session: Session): Promise<unknown[]> {
  const path = `/connect/flows?tool=true&limit=${mostFlows}` as const;
  const { status, body } = await session.ask({ method: "GET", path });
  const rows = status === 200 ? parseExactly(body) : [];
  return Array.isArray(rows) ? rows : [];
}

/** `flow_<code>`; of a code that is too long or has dots the part that fits, and what tells it from others. */
function nameOf(code: string): string {
  const name = prefix + code;
  if (toolName.test(name)) return name;
  return `${name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 55)}_${sha256(code).slice(0, 8)}`;
}

/** The code whose tool has a name that is not simply `flow_<code>`. */
async function codeOf(name: string, session: Session): Promise<string | undefined> {
  const codes = (await toolFlows(session)).map((row) => (isObject(row) ? String(row["code"]) : ""));
  return codes.find((code) => nameOf(code) === name);
}

/** Undefined if the name is no flow's. */
export async function callFlowTool(name: string, args: unknown, session: Session): Promise<ToolResult | undefined> {
  if (!name.startsWith(prefix)) return undefined;
  let code = name.slice(prefix.length);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(code)) return undefined;
  const ask = (one: string) => {
    const query = new URLSearchParams({ tool: "true", code: one, limit: "1" });
    return session.ask({ method: "GET", path: `/connect/flows?${query}` });
  };
  let found = await ask(code);
  if (found.status !== 200) return resultOf(found);
  if (found.body === "[]") {
    const other = await codeOf(name, session);
    if (other === undefined) return undefined;
    code = other;
    found = await ask(code);
  }
  if (!isObject(args)) return failed("the arguments must be an object");
  const mistake = inputMistake(found.body, args);
  if (mistake !== undefined) return failed(`422 ${JSON.stringify({ base: [mistake] })}`);
  const path = `/connect/flows/${encodeURIComponent(code)}/run?wait=${waitSeconds}` as const;
  return endOf(await session.ask({ method: "POST", path, body: args }));
}

/** What the arguments lack of the flow's `fields.input`. */
function inputMistake(body: string, args: unknown): string | undefined {
  const [row]: unknown[] = [parseExactly(body)].flat();
  const input = isObject(row) && isObject(row["fields"]) ? row["fields"]["input"] : undefined;
  return isUsable(input) ? answerMistake({ ...input, type: "object" }, args, "arguments") : undefined;
}

/** An input of an earlier version was not checked. */
function isUsable(input: unknown): input is Readonly<Record<string, unknown>> {
  return isObject(input) && schemaMistake(input, ["pattern"]) === undefined;
}

const isRun = ({ method, path }: Route) => method === "POST" && path === "/connect/flows/:code/run";

function listed(row: unknown): ListedTool[] {
  if (!isObject(row) || row["active"] === false) return [];
  const { code, name, fields } = row;
  if (typeof code !== "string" || typeof name !== "string" || !isObject(fields)) return [];
  const { description, input } = fields;
  const about = typeof description === "string" && description !== "" ? description : `Runs the flow "${name}".`;
  return [
    {
      name: nameOf(code),
      title: name,
      description: shortened(about, 2000),
      inputSchema: isUsable(input) ? { ...input, type: "object" } : { type: "object", additionalProperties: true },
      annotations: {
        title: name,
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
  ];
}

/** The flow's own result, or how it failed; a process that goes on is shown with its id. */
function endOf(answer: Awaited<ReturnType<Session["ask"]>>): ToolResult {
  if (answer.status !== 201) return resultOf(answer);
  const process = parseExactly(answer.body);
  if (!isObject(process)) return resultOf(answer);
  const { id, status, data, error } = process;
  if (status === "error")
    return failed(`the flow failed: ${typeof error === "string" ? error : JSON.stringify(error)}`);
  return resultOf(answer, JSON.stringify({ flow_process_id: id, status, data }));
}
