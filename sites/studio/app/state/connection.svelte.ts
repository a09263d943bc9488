/** How the server is reached at the moment, and who is asked to sign in again: what the frame shows over every page. */

class Connection {
  /** What the banner says. */
  trouble = $state<"offline" | "busy" | undefined>();
  /** Set while the dialog of an ended session is open. */
  private ended = $state<{ readonly back: Promise<void>; readonly resolve: () => void } | undefined>();

  get sessionEnded(): boolean {
    return this.ended !== undefined;
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
