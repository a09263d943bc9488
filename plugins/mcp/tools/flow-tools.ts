/** Flows that are marked `tool: true` as tools of their own. */
import { isObject, parseExactly, type Route } from "platform";
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
/** More than that many tools help no model. */
const mostFlows = 100;
const waitSeconds = 25;

export async function listFlowTools(session: Session): Promise<ListedTool[]> {
  if (!session.routes.some((route) => isRun(route) && isOpen(route, session.caller))) return [];
  const path = `/connect/flows?tool=true&limit=${mostFlows}` as const;
  const { status, body } = await session.ask({ method: "GET", path });
  const rows = status === 200 ? parseExactly(body) : [];
  return Array.isArray(rows) ? rows.flatMap((row) => listed(row)) : [];
}

/** Undefined if the name is no flow's. */
export async function callFlowTool(name: string, args: unknown, session: Session): Promise<ToolResult | undefined> {
  if (!name.startsWith(prefix)) return undefined;
  const code = name.slice(prefix.length);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(code)) return undefined;
  const query = new URLSearchParams({ tool: "true", code, limit: "1" });
  const found = await session.ask({ method: "GET", path: `/connect/flows?${query}` });
  if (found.status !== 200) return resultOf(found);
  if (found.body === "[]") return undefined;
  if (!isObject(args)) return failed("the arguments must be an object");
  const path = `/connect/flows/${encodeURIComponent(code)}/run?wait=${waitSeconds}` as const;
  return endOf(await session.ask({ method: "POST", path, body: args }));
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
      name: `${prefix}${code}`,
      title: name,
      description: shortened(about, 2000),
      inputSchema: isObject(input) ? { ...input, type: "object" } : { type: "object", additionalProperties: true },
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
