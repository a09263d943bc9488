/** How the server is reached at the moment, and who is asked to sign in again: what the frame shows over every page. */
import { isMap } from "../resources/values.ts";

const lookMs = 60_000;
/** What a page itself asks for comes first. */
const firstLookMs = 4000;

class Connection {
  /** What the banner says. */
  trouble = $state<"offline" | "busy" | undefined>();
  /** Changes that are not answered yet. */
  waiting = $state(0);
  /** Of the server: `short`, if uploads and imports are refused; `full`, if nothing can be stored. */
  disk = $state<"ok" | "short" | "full">("ok");
  /** Set while the dialog of an ended session is open. */
  private ended = $state<{ readonly back: Promise<void>; readonly resolve: () => void } | undefined>();

  get sessionEnded(): boolean {
    return this.ended !== undefined;
  }

  /** Counts a change among those that wait until it is answered. */
  async counted<T>(change: Promise<T>): Promise<T> {
    this.waiting++;
    try {
      return await change;
    } finally {
      this.waiting--;
    }
  }

  /** Looks at the server's disk soon, each minute, and when the page is seen again. Gives back what ends that. */
  watchDisk(): () => void {
    const look = () => void (document.hidden || this.lookAtDisk());
    const timer = setInterval(look, lookMs);
    document.addEventListener("visibilitychange", look);
    const first = setTimeout(look, firstLookMs);
    return () => {
      clearTimeout(first);
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }

  private async lookAtDisk(): Promise<void> {
    const answer = await fetch("/ready").catch(() => undefined);
    const json: unknown = await answer?.json().catch(() => undefined);
    // A server that stops says nothing of its disk.
    if (!isMap(json) || json["disk"] === undefined) return;
    // A database on another disk goes on.
    this.disk = json["disk"] === "ok" ? "ok" : json["disk"] === "full" && json["writable"] === false ? "full" : "short";
  }

  /** Resolves when the person has signed in again. */
  signedInAgain(): Promise<void> {
    if (!this.ended) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.ended = { back: promise, resolve };
    }
    return this.ended.back;
  }

  /** The dialog has done its work. */
  back(): void {
    const { ended } = this;
    this.ended = undefined;
    ended?.resolve();
  }
}

export const connection = new Connection();
