/** The versions of a record, newest first, a page at a time. */
import { get, messageOf } from "../server/request.ts";
import { whileShown } from "./page.svelte.ts";

export interface Version extends Readonly<Record<string, unknown>> {
  readonly version: number;
  readonly created_at: string;
  /** Null if nobody knows. */
  readonly created_by_id: number | null;
}

export class VersionLog<T extends Version = Version> {
  rows = $state.raw<readonly T[] | undefined>();
  hasMore = $state(false);
  problem = $state("");
  private readonly path: () => string;
  private readonly pageSize: number;

  /** Reads the newest ones again whenever `tag` is another one: there has been a save. */
  constructor(path: () => string, pageSize: number, tag: () => unknown) {
    this.path = path;
    this.pageSize = pageSize;
    whileShown((signal) => {
      void tag();
      return this.load(0, signal);
    });
  }

  older(): Promise<void> {
    return this.load(this.rows?.length ?? 0);
  }

  private async load(offset: number, signal?: AbortSignal): Promise<void> {
    try {
      const { json, headers } = await get(`${this.path()}.json?limit=${this.pageSize}&offset=${offset}`, signal);
      const loaded = Array.isArray(json) ? (json as readonly T[]) : []; // as the API's description declares them
      const known = this.rows ?? [];
      const oldest = loaded.at(-1)?.version ?? 0;
      this.rows = offset > 0 ? [...known, ...loaded] : [...loaded, ...known.filter(({ version }) => version < oldest)];
      this.hasMore = this.rows.length < Number(headers.get("x-total-count"));
      this.problem = "";
    } catch (error) {
      if (!signal?.aborted) this.problem = messageOf(error);
    }
  }
}
