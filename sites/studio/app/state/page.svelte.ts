/** What pages have in common: a title, what they read while they are shown, and the requests of their forms. */
import { untrack } from "svelte";
import { ApiError, get, messageOf, type Answer } from "../server/request.ts";
import { frame } from "./frame.svelte.ts";
import { session } from "./session.svelte.ts";
import { text } from "./text.svelte.ts";

/** The title of the page: in the browser's tab, and in the path above the page. */
export function titled(title: () => string): void {
  $effect(() => {
    document.title = session.titled(title());
    frame.title = title();
  });
}

/** Runs while the page is shown, and again whenever what it reads of the state changes; the signal ends what is old. */
export function whileShown(work: (signal: AbortSignal) => unknown): void {
  $effect(() => {
    const stop = new AbortController();
    void work(stop.signal);
    return () => stop.abort();
  });
}

/**
 * What an address answers, read again when the address changes. What was read before stays until then.
 *
 * @example
 * const runs = new Fetched(() => `/connect/flow_processes.json?started_by=cron:${id}`, ({ json }) => mapsIn(json));
 */
export class Fetched<T> {
  /** Undefined until it is read. */
  value = $state.raw<T | undefined>();
  problem = $state("");
  private times = $state(0);

  /** Without an address nothing is read. */
  constructor(path: () => string | undefined, take: (answer: Answer) => T) {
    whileShown(async (signal) => {
      void this.times;
      const asked = path();
      if (asked === undefined) return;
      try {
        const answer = await get(asked, signal);
        // What is gone may not be asked any more, and an older answer may not replace a newer one.
        if (signal.aborted) return;
        this.value = take(answer);
        this.problem = "";
      } catch (error) {
        if (!signal.aborted) this.problem = messageOf(error);
      }
    });
  }

  again(): void {
    this.times++;
  }
}

type Messages = Readonly<Record<string, readonly string[]>>;

/** The requests of a form that is no resource's own: one at a time, and what the server says of the last one. */
export class Attempt {
  busy = $state(false);
  problem = $state("");
  /** The server's words, by the fields that they are about. */
  messages = $state.raw<Messages>({});
  private readonly fields: readonly string[] | "all";

  /** `fields`: those that show the server's words themselves, so that they are not repeated above. */
  constructor(fields: readonly string[] | "all" = []) {
    this.fields = fields;
  }

  /** Whether it has succeeded. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    // An effect that makes a request does not depend on its end.
    if (untrack(() => this.busy)) return false;
    this.busy = true;
    this.problem = "";
    this.messages = {};
    try {
      await work();
      return true;
    } catch (error) {
      this.messages = error instanceof ApiError ? error.errors : {};
      const names = Object.keys(this.messages);
      const isShown = names.length > 0 && names.every((name) => this.fields === "all" || this.fields.includes(name));
      this.problem = isShown ? text.messages.wrongFields : messageOf(error);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
