/** The preview of what is being written: asked for when the person pauses, only the last answer counts. */
import { ApiError, isMap, messageOf, request, textOf } from "studio";
import { texts } from "./words.ts";
import { isCode } from "./prompt.ts";

export interface Draft {
  readonly content: string;
  readonly code: string;
}

const pauseMs = 300;

export class Preview {
  /** Undefined until there is something to show. */
  result = $state<string | undefined>();
  /** The parameters that the content asks for. */
  variables = $state.raw<readonly string[]>([]);
  joinedTo = $state<string | undefined>();
  params = $state.raw<Readonly<Record<string, string>>>({});
  /** The server's messages about the content: faults with their positions. */
  messages = $state.raw<readonly string[]>([]);
  /** Any other message. */
  problem = $state("");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stop: AbortController | undefined;

  ask(draft: Draft): void {
    this.end();
    this.messages = [];
    if (draft.content.trim() === "") {
      this.result = undefined;
      this.problem = "";
      return;
    }
    this.timer = setTimeout(() => void this.load(draft), pauseMs);
  }

  end(): void {
    clearTimeout(this.timer);
    this.stop?.abort();
  }

  set(name: string, value: string): void {
    this.params = { ...this.params, [name]: value };
  }

  private async load({ content, code }: Draft): Promise<void> {
    const stop = new AbortController();
    this.stop = stop;
    const given = Object.entries(this.params).filter(([, value]) => value !== "");
    const prompt = { content, ...(isCode(code) && { code }), params: Object.fromEntries(given) };
    try {
      const { json } = await request("POST", "/core/prompts/preview.json", {
        body: { prompt },
        signal: stop.signal,
        quiet: true,
      });
      if (!stop.signal.aborted && isMap(json)) this.show(json);
    } catch (error) {
      if (!stop.signal.aborted) this.refused(error);
    }
  }

  private show(json: Readonly<Record<string, unknown>>): void {
    this.result = textOf(json["text"]);
    this.variables = Array.isArray(json["variables"]) ? json["variables"].map(String) : [];
    this.joinedTo = typeof json["joined_to"] === "string" ? json["joined_to"] : undefined;
    this.messages = [];
    this.problem = "";
  }

  private refused(error: unknown): void {
    const errors = error instanceof ApiError ? error.errors : {};
    this.messages = errors["content"] ?? [];
    const others = Object.entries(errors).flatMap(([name, said]) => (name === "content" ? [] : said));
    this.problem = others.join(" ") || (this.messages.length > 0 ? "" : messageOf(error));
    this.problem ||= this.messages.length > 0 ? "" : texts().refused;
  }
}
