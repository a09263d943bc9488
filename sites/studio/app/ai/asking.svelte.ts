/** Whether the AI dialog is open, and what for. The dialog itself is loaded when it is asked for. */
class Asking {
  /** What the person looks at, by the names that prompts have for it; undefined while the dialog is closed. */
  about = $state.raw<Readonly<Record<string, unknown>> | undefined>();

  /** `about` comes before what the address says. */
  begin(about: Readonly<Record<string, unknown>> = {}): void {
    this.about = about;
  }
  end(): void {
    this.about = undefined;
  }
}

export const asking = new Asking();
