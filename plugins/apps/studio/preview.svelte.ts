/** The app as it stands in the editor, compiled by the server without being saved. */
import { ApiError, isMap, messageOf, request, textOf } from "studio";
import { entriesOf, type Entry } from "./console.ts";
import { createLatest } from "./latest.ts";

/** The fields of an app that its preview needs. */
export interface Draft {
  readonly app_engine: string;
  readonly css_engine: string;
  readonly source_code: string;
}

interface Compiled {
  readonly url: string;
  /** The source's lines by those of the compiled code; null where the source runs as it is. */
  readonly lines: readonly number[] | null;
}

/** Throws the compiler's mistakes: the 422 of `source_code`. */
export async function compiled(id: string, draft: Draft): Promise<Compiled> {
  const { json } = await request("POST", "/core/apps/preview.json", { body: { app: { id, ...draft } } });
  const { url, source_lines: lines } = isMap(json) ? json : {};
  return { url: textOf(url), lines: Array.isArray(lines) ? lines.map(Number) : null };
}

const waitMs = 600;

export class LivePreview {
  /** The address of the newest draft that compiles. */
  url = $state("");
  /** The mistakes that the compiler found in the newest draft: `line:column message`. */
  mistakes = $state.raw<readonly string[]>([]);
  problem = $state("");
  compiling = $state(false);
  entries = $state.raw<readonly Entry[]>([]);
  private readonly id: () => string;
  private lines: readonly number[] | null = null;
  private stopped = false;
  private readonly latest = createLatest<Draft>({ waitMs, run: (draft) => this.compile(draft) });

  /** `id`: the address may have the short name. */
  constructor(id: () => string) {
    this.id = id;
  }

  /** `atOnce`: without waiting for a pause. */
  want(draft: Draft, atOnce = false): void {
    if (draft.source_code.trim() !== "") this.latest.want(draft, atOnce);
  }

  /** A message of the app's own window. */
  hear(message: unknown): void {
    this.entries = entriesOf(message, this.lines) ?? this.entries;
  }

  stop(): void {
    this.stopped = true;
    this.latest.stop();
  }

  private async compile(draft: Draft): Promise<void> {
    this.compiling = true;
    try {
      const { url, lines } = await compiled(this.id(), draft);
      if (this.stopped) return;
      this.lines = lines;
      this.entries = [];
      this.mistakes = [];
      this.problem = "";
      this.url = url;
    } catch (error) {
      const errors = error instanceof ApiError ? error.errors : {};
      this.mistakes = errors["source_code"] ?? [];
      this.problem = this.mistakes.length > 0 ? "" : messageOf(error);
    } finally {
      this.compiling = false;
    }
  }
}
