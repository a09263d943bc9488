/** Work that follows somebody who types: it begins when they pause, one at a time, and the last wish wins. */

interface Options<T> {
  readonly waitMs: number;
  readonly run: (wanted: T) => Promise<void>;
  /** `setTimeout`; gives back what stops it. */
  readonly later?: (work: () => void, ms: number) => () => void;
}

export interface Latest<T> {
  /** `atOnce`: without the pause. */
  want(wanted: T, atOnce?: boolean): void;
  stop(): void;
}

export function createLatest<T>({ waitMs, run, later = byTimeout }: Options<T>): Latest<T> {
  let waiting: { readonly wanted: T; readonly isDue: boolean } | undefined;
  let forget = () => {};
  let isBusy = false;

  const begin = () => {
    if (isBusy || !waiting?.isDue) return;
    const { wanted } = waiting;
    waiting = undefined;
    isBusy = true;
    void run(wanted).finally(() => {
      isBusy = false;
      begin();
    });
  };
  return {
    want(wanted, atOnce = false) {
      forget();
      waiting = { wanted, isDue: atOnce };
      if (atOnce) return begin();
      forget = later(() => {
        if (waiting) waiting = { wanted: waiting.wanted, isDue: true };
        begin();
      }, waitMs);
    },
    stop() {
      forget();
      waiting = undefined;
    },
  };
}

function byTimeout(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}
