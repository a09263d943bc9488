/** The protocol's own client, for tests. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export const revisions = ["2026-07-28", "2025-11-25"] as const;
export type Revision = (typeof revisions)[number];

interface Result {
  readonly isError: boolean;
  readonly text: string;
  /** The text parsed, if it is JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of any form
  readonly json: any;
}

export interface Agent {
  readonly client: Client;
  /** The names of its tools. */
  readonly tools: () => Promise<string[]>;
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<Result>;
}

export async function connect(
  origin: string,
  token: string,
  revision: Revision = "2026-07-28",
  headers: Record<string, string> = {},
): Promise<Agent> {
  const mode = revision === "2026-07-28" ? { pin: revision } : ("legacy" as const);
  const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", origin), { requestInit }));
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => {
      const { isError = false, content } = await client.callTool({ name, arguments: args });
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return { isError, text, json: /^[{[]/.test(text) ? JSON.parse(text) : undefined };
    },
  };
}

/** The words of what a promise is refused with; "" if it is not. */
export function failureOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "",
    (error: unknown) => String(error),
  );
}
