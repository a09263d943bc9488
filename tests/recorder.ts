/**
 * A proxy in front of PostgreSQL that writes down which statements are prepared through it: their texts and the types of
 * their parameters. `RECORD_STATEMENTS=FILE bun test tests/…` writes those of the servers that these tests start.
 */
import { appendFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { DatabaseTarget } from "../runtime/db/db.ts";

export interface Statement {
  readonly text: string;
  /** By their ids in pg_type; 0 = PostgreSQL finds it out. */
  readonly types: readonly number[];
}

const known = new Set<string>();

/** The same database, through such a proxy if RECORD_STATEMENTS names a file. It ends with this process. */
export async function recorded(target: DatabaseTarget): Promise<DatabaseTarget> {
  const file = process.env["RECORD_STATEMENTS"];
  if (!file || "url" in target) return target;
  const server = createServer((client) => {
    const upstream = connect(`${target.socketDir}/.s.PGSQL.${target.port}`);
    let rest: Buffer = Buffer.alloc(0);
    let begun = false;
    client.on("data", (bytes: Buffer) => {
      upstream.write(bytes);
      rest = Buffer.concat([rest, bytes]);
      // The first message of a connection has no type.
      for (let head = begun ? 1 : 0; rest.length >= head + 4; head = 1) {
        const end = head + rest.readInt32BE(head);
        if (rest.length < end) break;
        if (begun && rest[0] === "P".charCodeAt(0)) note(file, statementOf(rest.subarray(5, end)));
        rest = rest.subarray(end);
        begun = true;
      }
    });
    upstream.on("data", (bytes) => client.write(bytes));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.unref();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `postgres://${target.user}@127.0.0.1:${port}/${target.database}` };
}

/** Of a message `Parse`: name, text, and the types. */
function statementOf(body: Buffer): Statement {
  const textAt = body.indexOf(0) + 1;
  const textEnd = body.indexOf(0, textAt);
  const count = body.readInt16BE(textEnd + 1);
  const types = Array.from({ length: count }, (_, n) => body.readInt32BE(textEnd + 3 + 4 * n));
  return { text: body.toString("utf8", textAt, textEnd), types };
}

function note(file: string, statement: Statement): void {
  const line = JSON.stringify(statement);
  if (known.has(line) || !/^\s*(select|insert|update|delete|with|merge)\b/i.test(statement.text)) return;
  // An extension that some tests look with.
  if (statement.text.includes("pgstat")) return;
  known.add(line);
  appendFileSync(file, `${line}\n`);
}
