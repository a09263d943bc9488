/** Where somebody is signed in, and the programs that act for them. */
import { isMap } from "studio";

type Row = Readonly<Record<string, unknown>>;

export interface OwnSession {
  readonly id: string;
  readonly began: string;
  readonly lastUsed: string | undefined;
}

/** A session is a `web_token` that sign-in has made; those that people make have names of their own. */
export function sessionsOf(json: unknown): OwnSession[] {
  const rows: Row[] = Array.isArray(json) ? json.filter(isMap) : [];
  return rows
    .filter((row) => row["name"] === "session" && row["kind"] === "web_token")
    .map((row) => ({
      id: String(row["id"]),
      began: String(row["created_at"]),
      lastUsed: typeof row["last_used_at"] === "string" ? row["last_used_at"] : undefined,
    }))
    .toSorted((a, b) => (b.lastUsed ?? b.began).localeCompare(a.lastUsed ?? a.began));
}
