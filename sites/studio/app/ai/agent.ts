import { isMap } from "../resources/values.ts";

/** What an agent is given: its instruction, and the lines that connect clients to `/mcp`. Pure. */

/** As the server makes them; short words that only begin alike are none. */
const token = /\bcore_[A-Za-z0-9_-]{16,200}/g;

/** Secrets are shown masked and copied whole. */
export function masked(text: string): string {
  return withoutSecrets(text).replaceAll(token, "core_…");
}

/** What a model may read: no token in its exact form (codes may begin alike), and no webhook's signing secret. */
export function withoutSecrets(text: string): string {
  return text
    .replaceAll(/\bcore_[A-Za-z0-9]{42}\b/g, "core_…")
    .replaceAll(/\bwhsec_[A-Za-z0-9+/=_-]{16,200}/g, "whsec_…");
}

export function tokenIn(text: string): string | undefined {
  return text.match(token)?.[0];
}

/** The instruction with what the person wants of the agent beside. */
export function withTask(instruction: string, task: string): string {
  return task.trim() === "" ? instruction : `${instruction.trimEnd()}\n\n${task.trim()}\n`;
}

export interface Client {
  readonly name: string;
  readonly line: string;
}

/** How common clients are told of this account. */
export function clientsOf(origin: string, secret: string): Client[] {
  const url = `${origin}/mcp`;
  const headers = { Authorization: `Bearer ${secret}` };
  return [
    {
      name: "Claude Code",
      line: `claude mcp add --transport http corestead ${url} --header "Authorization: Bearer ${secret}"`,
    },
    { name: "VS Code", line: `code --add-mcp '${JSON.stringify({ name: "corestead", type: "http", url, headers })}'` },
    { name: "mcp.json", line: JSON.stringify({ mcpServers: { corestead: { type: "http", url, headers } } }, null, 2) },
  ];
}

/** Reads the Server-Sent Events of a conversation as they arrive. Pure. */
export interface StreamEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Gives the events that are complete with this part; the rest waits for the next one. */
export function createEventParser(): (part: string) => StreamEvent[] {
  let rest = "";
  return (part) => {
    const blocks = (rest + part).split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const lines = block.split("\n");
      const valueOf = (key: string) =>
        lines
          .find((line) => line.startsWith(key))
          ?.slice(key.length)
          .trim();
      const data = dataOf(valueOf("data:"));
      return data ? [{ name: valueOf("event:") ?? "message", data }] : [];
    });
  };
}

function dataOf(text: string | undefined): StreamEvent["data"] | undefined {
  if (text === undefined) return undefined;
  try {
    const data: unknown = JSON.parse(text);
    return isMap(data) ? data : undefined;
  } catch {
    return undefined;
  }
}
