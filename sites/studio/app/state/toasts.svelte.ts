/** Short news at the edge of the page, and deletions that can still be taken back. */
import { ApiError, personHeader, request } from "../server/request.ts";

export interface Toast {
  readonly id: number;
  readonly words: string;
  readonly isError: boolean;
  /** How often it was said, and until when it is shown. */
  readonly count: number;
  readonly until: number;
  readonly undo?: () => void;
  /** What the news is about. */
  readonly of?: { readonly name: string; readonly address: string } | undefined;
}

/** What is to be deleted in ten seconds. */
interface Deletion {
  readonly path: string;
  readonly ifMatch?: string | undefined;
}

const showMs = 6000;
const undoMs = 10_000;

/** Of a selection; what lies over the page lets nothing else be selected. */
function copiedAsOnce(value: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = value;
  (before?.closest("dialog") ?? document.body).append(area);
  area.select();
  // oxlint-disable-next-line typescript/no-deprecated -- without https there is nothing else
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  /** By the paths of what is to be deleted: lists leave them out already. Undefined once it is done. */
  deleting = $state.raw<ReadonlyMap<string, Deletion | undefined>>(new Map());
  private last = 0;

  begin(): void {
    // A page that is closed does at once what it has promised.
    addEventListener("pagehide", () => {
      for (const { path, ifMatch } of [...this.deleting.values()].flatMap((call) => call ?? []))
        void fetch(path, {
          method: "DELETE",
          keepalive: true,
          headers: { ...personHeader(), ...(ifMatch !== undefined && { "if-match": ifMatch }) },
        });
    });
  }

  say(words: string): void {
    this.show({ words, isError: false }, showMs);
  }

  fail(error: unknown, of?: Toast["of"]): void {
    this.show({ words: error instanceof Error ? error.message : String(error), isError: true, of }, showMs * 2);
  }

  /** Copies a text, and says so. Browsers have a clipboard over https alone: else by the older way, or by hand. */
  async copy(value: string, words: Readonly<Record<"copied" | "copyByHand", string>>): Promise<void> {
    const isWritten =
      "clipboard" in navigator &&
      navigator.clipboard.writeText(value).then(
        () => true,
        () => false,
      );
    this.say((await isWritten) || copiedAsOnce(value) ? words.copied : words.copyByHand);
  }

  close(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** News of what is done already, which `undo` takes back. */
  offerUndo(words: string, undo: () => void): void {
    this.show({ words, isError: false, undo }, undoMs);
  }

  /** Deletes in ten seconds, unless the person takes it back. */
  deleteLater(
    path: string,
    words: string,
    { ifMatch, undone }: { ifMatch?: string | undefined; undone: () => void },
  ): void {
    const call = { path, ifMatch };
    this.deleting = new Map([...this.deleting, [path, call]]);
    const timer = setTimeout(() => void this.doNow(call, undone), undoMs);
    const undo = () => {
      clearTimeout(timer);
      this.forget(call);
      undone();
    };
    this.show({ words, isError: false, undo }, undoMs);
  }

  /** A list was read: what it has at these paths is there, again if it was deleted. */
  listed(paths: readonly string[]): void {
    const there = new Set(paths);
    this.deleting = new Map([...this.deleting].filter(([path, call]) => call !== undefined || !there.has(path)));
  }

  private async doNow(call: Deletion, failed: () => void): Promise<void> {
    try {
      await request("DELETE", call.path, { ifMatch: call.ifMatch });
    } catch (error) {
      const isGone = error instanceof ApiError && error.status === 404;
      if (!isGone) this.fail(error);
      this.forget(call);
      if (!isGone) failed();
      return;
    }
    this.deleting = new Map([...this.deleting].map(([hidden, other]) => [hidden, other === call ? undefined : other]));
  }

  private forget(call: Deletion): void {
    this.deleting = new Map([...this.deleting].filter(([, other]) => other !== call));
  }

  /** The last three. What was said before is counted; taken back, the one before can be taken back next. */
  private show({ undo, ...toast }: Pick<Toast, "words" | "isError" | "undo" | "of">, ms: number): void {
    const id = ++this.last;
    const before = this.list.find(
      ({ words, isError, of }) =>
        words === toast.words && isError === toast.isError && of?.address === toast.of?.address,
    );
    const back = () => {
      this.close(id);
      if (before && Date.now() < before.until) this.list = [...this.list, before];
      undo?.();
    };
    const [count, until] = [(before?.count ?? 0) + 1, Date.now() + ms];
    const others = this.list.filter((one) => one !== before).slice(-2);
    this.list = [...others, { id, ...toast, count, until, ...(undo && { undo: back }) }];
    setTimeout(() => this.close(id), ms);
  }
}

export const toasts = new Toasts();
