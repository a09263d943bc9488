/** The settings of the account while somebody changes them: each is saved at once, and what is refused says why at its field. */
import { ApiError, frame, get, menu, messageOf, request, text } from "studio";
import { sentOf, type Setting } from "./settings.ts";

export class SavedSettings {
  all = $state.raw<ReadonlyMap<string, Setting> | undefined>();
  problem = $state("");
  messages = $state.raw<Readonly<Record<string, readonly string[]>>>({});
  private last: Promise<unknown> = Promise.resolve();

  async load(): Promise<void> {
    frame.saved = undefined;
    try {
      this.take((await get("/account/settings.json?limit=1000")).json);
    } catch (error) {
      this.problem = messageOf(error);
    }
  }

  valueOf(name: string): string {
    return this.all?.get(name)?.value ?? "";
  }

  /** One after another: each answer has all settings. */
  save(typed: Readonly<Record<string, string>>): Promise<unknown> {
    this.last = this.last.then(() => this.send(typed));
    return this.last;
  }

  private async send(typed: Readonly<Record<string, string>>): Promise<void> {
    const named = Object.entries(typed).map(([name, value]) => {
      const setting = this.all?.get(name);
      return [name, setting ? sentOf(setting, value) : value];
    });
    this.problem = "";
    this.messages = { ...this.messages, ...Object.fromEntries(named.map(([name]) => [name, []])) };
    try {
      this.take(
        (await request("PATCH", "/account/settings.json", { body: { settings: Object.fromEntries(named) } })).json,
      );
      frame.saved = Date.now();
      if (named.some(([name]) => name?.startsWith("brand_"))) await menu.read();
    } catch (error) {
      this.messages = { ...this.messages, ...(error instanceof ApiError ? error.errors : {}) };
      const isShown = named.some(([name]) => (this.messages[name ?? ""] ?? []).length > 0);
      this.problem = isShown ? text.messages.wrongFields : messageOf(error);
    }
  }

  private take(json: unknown): void {
    // As the API's description declares it.
    this.all = new Map((json as readonly Setting[]).map((one) => [one.name, one]));
  }
}
