/** The page as it stands in the editor, rendered by the server when typing pauses. Only the last answer counts. */
import { ApiError, messageOf, request } from "studio";
import { renderedOf, type Rendered } from "./result.ts";

const pauseMs = 500;

export class Preview {
  shown = $state.raw<Rendered | undefined>();
  busy = $state(false);
  /** What the server refuses of the draft, by field. */
  problem = $state("");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stop: AbortController | undefined;

  /** `atOnce`: without waiting for a pause. */
  ask(page: Readonly<Record<string, unknown>>, atOnce: boolean): void {
    this.end();
    this.busy = true;
    this.timer = setTimeout(() => void this.load(page), atOnce ? 0 : pauseMs);
  }

  end(): void {
    clearTimeout(this.timer);
    this.stop?.abort();
    this.busy = false;
  }

  private async load(page: Readonly<Record<string, unknown>>): Promise<void> {
    const stop = new AbortController();
    this.stop = stop;
    try {
      const { json } = await request("POST", "/cms/pages/preview.json", { body: { page }, signal: stop.signal });
      if (stop.signal.aborted) return;
      this.shown = renderedOf(json);
      this.problem = "";
    } catch (error) {
      if (stop.signal.aborted) return;
      const errors = error instanceof ApiError ? error.errors : {};
      const said = Object.entries(errors).map(([name, messages]) => `${name}: ${messages.join(", ")}`);
      this.problem = said.join(" ") || messageOf(error);
    }
    this.busy = false;
  }
}
