/** The events that wait to be sent to one follower. Beyond a limit none is kept: the follower reads them by itself. */
export interface Waiting {
  readonly text: string;
  /** The id of the last event in it. */
  readonly lastId: string;
}

export interface Outbox {
  /** Begins to take what is pushed. */
  open(): void;
  push(waiting: Waiting): void;
  /** Everything that waits; "behind" if some of it was not kept, undefined at the end. */
  take(): Promise<Waiting | "behind" | undefined>;
  end(): void;
  readonly ended: () => boolean;
}

export function outboxOf(maxCharacters: number): Outbox {
  let waiting: Waiting[] = [];
  let characters = 0;
  let state: "open" | "behind" | "ended" = "behind";
  let wake: (() => void) | undefined;

  const changed = () => {
    wake?.();
    wake = undefined;
  };
  const empty = () => {
    waiting = [];
    characters = 0;
  };
  return {
    open() {
      if (state === "ended") return;
      empty();
      state = "open";
    },
    push(one) {
      if (state !== "open") return;
      waiting.push(one);
      characters += one.text.length;
      if (characters > maxCharacters) {
        empty();
        state = "behind";
      }
      changed();
    },
    async take() {
      if (waiting.length === 0 && state === "open") await new Promise<void>((resolve) => (wake = resolve));
      const last = waiting.at(-1);
      if (!last) return state === "ended" ? undefined : "behind";
      const taken = { text: waiting.map(({ text }) => text).join(""), lastId: last.lastId };
      empty();
      return taken;
    },
    end() {
      state = "ended";
      changed();
    },
    ended: () => state === "ended",
  };
}
