/** `corestead health`: for the health checks of containers, whose images have no curl. */
import type { Config } from "../../settings/config.ts";

const patienceMs = 4_000;
const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };

/** What the server of these settings answers at /health. Rejects if it is not up. */
export async function askHealth({ host, port }: Pick<Config, "host" | "port">): Promise<string> {
  const plain = host.includes(":") ? `[${host}]` : host;
  const url = `http://${everywhere[host] ?? plain}:${port}/health`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(patienceMs), redirect: "manual" }).catch(
    (cause: unknown) => {
      throw new Error(`nobody answers at ${url}`, { cause });
    },
  );
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}`);
  return "the server is up";
}
