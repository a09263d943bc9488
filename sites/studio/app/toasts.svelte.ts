/** Short news at the edge of the page, and deletions that can still be taken back. */
import { ApiError, request } from "./api.ts";

export interface Toast {
  readonly id: number;
  readonly words: string;
  readonly isError: boolean;
  readonly undo?: () => void;
}

interface Deletion {
  readonly path: string;
  readonly ifMatch: string | undefined;
}

const showMs = 6000;
const undoMs = 10_000;

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  /** The paths that are to be deleted: lists leave them out already. */
  deleting = $state.raw<ReadonlyMap<string, Deletion>>(new Map());
  private last = 0;

  begin(): void {
    // A page that is closed does at once what it has promised.
    addEventListener("pagehide", () => {
      for (const { path, ifMatch } of this.deleting.values())
        void fetch(path, {
          method: "DELETE",
          keepalive: true,
          headers: ifMatch === undefined ? {} : { "if-match": ifMatch },
        });
    });
  }

  say(words: string): void {
    this.show({ words, isError: false }, showMs);
  }

  fail(error: unknown): void {
    this.show({ words: error instanceof Error ? error.message : String(error), isError: true }, showMs * 2);
  }

  close(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** Deletes in ten seconds, unless the person takes it back. */
  deleteLater(
    path: string,
    words: string,
    { ifMatch, undone }: { ifMatch?: string | undefined; undone: () => void },
  ): void {
    this.deleting = new Map([...this.deleting, [path, { path, ifMatch }]]);
    const timer = setTimeout(() => void this.deleteNow(path, undone), undoMs);
    const undo = () => {
      clearTimeout(timer);
      this.forget(path);
      this.close(id);
      undone();
    };
    const id = this.show({ words, isError: false, undo }, undoMs);
  }

  private async deleteNow(path: string, failed: () => void): Promise<void> {
    const ifMatch = this.deleting.get(path)?.ifMatch;
    try {
      await request("DELETE", path, { ifMatch });
    } catch (error) {
      const isGone = error instanceof ApiError && error.status === 404;
      if (!isGone) this.fail(error);
      this.forget(path);
      if (!isGone) failed();
      return;
    }
    this.forget(path);
  }

  private forget(path: string): void {
    this.deleting = new Map([...this.deleting].filter(([other]) => other !== path));
  }

  private show(toast: Omit<Toast, "id">, ms: number): number {
    const id = ++this.last;
    this.list = [...this.list.slice(-3), { id, ...toast }];
    setTimeout(() => this.close(id), ms);
    return id;
  }
}

export const toasts = new Toasts();
