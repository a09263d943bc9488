/** All tools: which of them a connection is offered, and a call of one. */
import { forbidden, HttpError, refuseUnstorable } from "platform";
import { failedBy, type ToolResult } from "../answer.ts";
import { briefSchema, guide } from "./guide.ts";
import { callFlowTool, listFlowTools, type ListedTool } from "./flow-tools.ts";
import { genericTools } from "./generic.ts";
import { recordTools } from "./records.ts";
import type { Session, Tool } from "./tool.ts";
import { tableTools } from "./tables.ts";
import { workTools } from "./work.ts";

const tools: readonly Tool[] = [guide, ...genericTools, ...recordTools, ...tableTools, ...workTools];
const byName = new Map(tools.map((tool) => [tool.name, tool]));

export async function listTools(session: Session): Promise<ListedTool[]> {
  const offered = await Promise.all(
    tools.map(async (tool) => ((await isOffered(tool, session)) ? [listed(tool)] : [])),
  );
  return [...offered.flat(), ...(await listFlowTools(session))];
}

/** What is refused is a result too; undefined if there is no such tool for this caller. */
export async function callTool(name: string, args: unknown, session: Session): Promise<ToolResult | undefined> {
  const tool = byName.get(name);
  try {
    refuseUnstorable(args);
    if (!tool) return await callFlowTool(name, args, session);
    if (session.caller.readOnly && !tool.annotations.readOnlyHint)
      throw forbidden("this token may only read (`read_only`)");
    return await tool.run(args, session);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    // The routes note their own.
    if (error.status === 403) session.refused(`${name} over /mcp`);
    return failedBy(error);
  }
}

async function isOffered(tool: Tool, session: Session): Promise<boolean> {
  if (session.caller.readOnly && !tool.annotations.readOnlyHint) return false;
  return tool.isFor(session);
}

function listed({ name, title, description, annotations, input }: Tool): ListedTool {
  const { properties, required } = input;
  const told = Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, briefSchema(schema)]));
  return {
    name,
    title,
    description,
    inputSchema: { type: "object", ...(required && { required }), properties: told },
    annotations: { ...annotations },
  };
}
