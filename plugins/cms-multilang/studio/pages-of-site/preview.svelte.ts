/** The page as it stands in the editor, rendered by the server when typing pauses. Only the last answer counts. */
import { ApiError, messageOf, request, whileShown } from "studio";
import { renderedOf, type Rendered } from "./result.ts";

const pauseMs = 500;

export class Preview {
  shown = $state.raw<Rendered | undefined>();
  busy = $state(false);
  /** What the server refuses of the draft, by field. */
  problem = $state("");
  /** Whoever asks for it, and the first look, wait for no pause. */
  private wanted = $state(1);
  private asked = 0;

  constructor(page: () => Readonly<Record<string, unknown>>) {
    whileShown((signal) => {
      const pause = this.wanted === this.asked ? pauseMs : 0;
      this.asked = this.wanted;
      const timer = setTimeout((body) => void this.load(body, signal), pause, { page: page() });
      signal.addEventListener("abort", () => clearTimeout(timer));
      this.busy = true;
    });
  }

  again(): void {
    this.wanted++;
  }

  private async load(body: unknown, signal: AbortSignal): Promise<void> {
    try {
      const { json } = await request("POST", "/cms/pages/preview.json", { body, signal });
      if (signal.aborted) return;
      this.shown = renderedOf(json);
      this.problem = "";
    } catch (error) {
      if (signal.aborted) return;
      const errors = error instanceof ApiError ? error.errors : {};
      const said = Object.entries(errors).map(([name, messages]) => `${name}: ${messages.join(", ")}`);
      this.problem = said.join(" ") || messageOf(error);
    }
    this.busy = false;
  }
}
