/** State that the page passes to its frame. */
import { untrack } from "svelte";
import type { Call } from "../resources/curl.ts";

/** What saves a form, as a call of the API: undefined where it has mistakes. */
export interface Save {
  readonly call: () => Call | undefined;
  /** What the API says of it. */
  readonly help: string;
}

class Frame {
  /** The name of what is shown, once it is known. */
  title = $state("");
  /** When what saves itself was saved last. */
  saved = $state<number | undefined>();
  /** What has been read, by its address: what stands above a page is called by its name. */
  records = $state.raw<Readonly<Record<string, unknown>>>({});

  /** Whether the page has the frame's bar, which then shows its forms as calls of the API. */
  hasBar = $state(false);
  saves = $state.raw<readonly Save[]>([]);

  /** Returns what takes it back. */
  offer(save: Save): () => void {
    this.saves = [...untrack(() => this.saves), save];
    return () => (this.saves = this.saves.filter((one) => one !== save));
  }

  read(address: string, record: unknown): void {
    // A page that tells a name does not follow those of others.
    this.records = { ...untrack(() => this.records), [address]: record };
  }
}

export const frame = new Frame();
