/** State that the page passes to its frame. */
import { untrack } from "svelte";

class Frame {
  /** The name of what is shown, once it is known. */
  title = $state("");
  /** When what saves itself was saved last. */
  saved = $state<number | undefined>();
  /** What has been read, by its address: what stands above a page is called by its name. */
  records = $state.raw<Readonly<Record<string, unknown>>>({});

  read(address: string, record: unknown): void {
    // A page that tells a name does not follow those of others.
    this.records = { ...untrack(() => this.records), [address]: record };
  }
}

export const frame = new Frame();
