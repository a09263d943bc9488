/** Opens the pages of plugins: imports their modules, mounts them, and hears of their faults while they are open and after. */
import { base } from "../address.ts";
import { get, request } from "../server/request.ts";
import { followEvents } from "../server/events.ts";
import type { Mount, MountResult, StudioContext, Wording } from "../author.ts";
import { questions } from "../state/questions.svelte.ts";
import { router } from "../state/router.svelte.ts";
import { filledIn, text } from "../state/text.svelte.ts";
import { theme } from "../frame/theme.ts";
import { toasts } from "../state/toasts.svelte.ts";

interface Opening {
  /** The address of the page's module. */
  readonly module: string;
  readonly params: StudioContext["params"];
  readonly mounted: () => void;
  /** Called for each of its faults, as long as it is open. */
  readonly failed: (error: unknown) => void;
}

interface Open extends Pick<Opening, "module" | "failed"> {
  /** Ends what the page follows. */
  readonly endings: Set<() => void>;
}

/** The page that is shown. */
let current: Open | undefined;
let isListening = false;

/** What it gives back takes the page away again, even one that is not mounted yet. */
export function openExternal(element: HTMLElement, { module, params, mounted, failed }: Opening): () => void {
  const open: Open = { module, failed, endings: new Set() };
  current = open;
  listen();
  const tell = (error: unknown) => (current === open ? failed(error) : toasts.fail(error));
  const running = mount(element, open, params);
  running.then(() => current === open && mounted(), tell);
  return () => {
    if (current === open) current = undefined;
    for (const end of open.endings) end();
    const ended = running.then(
      (unmount) => unmount?.(),
      () => undefined, // which has been told
    );
    ended.catch((error: unknown) => toasts.fail(error));
  };
}

async function mount(element: HTMLElement, open: Open, params: StudioContext["params"]): Promise<MountResult> {
  const [loaded]: [{ readonly mount?: Mount }, unknown] = await Promise.all([
    import(open.module),
    import("./define.ts"),
  ]);
  if (typeof loaded.mount !== "function") throw new Error("the module exports no mount(element, ctx)");
  return loaded.mount(element, contextOf(params, open));
}

/** Timers and promises of a page fail where nobody waits for them. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  window.addEventListener("error", ({ error, message, filename }: ErrorEvent) => report(error ?? message, filename));
  window.addEventListener("unhandledrejection", ({ reason }: PromiseRejectionEvent) => report(reason));
}

/** Faults of the Studio's own code are not a page's. One without a stack can only be the open page's. */
function report(fault: unknown, filename = ""): void {
  const place = `${filename} ${fault instanceof Error ? fault.stack : ""}`;
  const isPages = place.includes("/studio/ext/");
  if (current && (place.includes(current.module.split("#")[0] ?? "") || (!(fault instanceof Error) && !isPages)))
    current.failed(fault);
  else if (isPages) toasts.fail(fault);
}

function contextOf(params: StudioContext["params"], { endings }: Open): StudioContext {
  return {
    version: 1,
    params,
    api: (method, path, options) => (method === "GET" ? get(path, options?.signal) : request(method, path, options)),
    navigate: (path) => router.go(`${base}/${path.replace(/^\//, "")}`),
    locale: text.language,
    t: (texts, values = {}) => worded(texts[text.language] ?? texts.en, values),
    get theme() {
      return theme.shown();
    },
    toast: (words, { error = false, undo } = {}) => {
      if (error) toasts.fail(words);
      else if (undo) toasts.offerUndo(words, undo);
      else toasts.say(words);
    },
    async confirm(words) {
      let end = () => {};
      const answer = await questions.ask(words, undefined, (question) =>
        endings.add((end = () => question.answer(false))),
      );
      endings.delete(end);
      return answer;
    },
    live(dbCode, changed) {
      const kinds = ["create", "update", "destroy", "reset"];
      const events = Object.fromEntries(kinds.map((kind) => [kind, changed]));
      const end = followEvents(`/core/dbs/${encodeURIComponent(dbCode)}/events`, events);
      endings.add(end);
      return end;
    },
  };
}

function worded(wording: Wording, values: Readonly<Record<string, string | number>>): string {
  const words = typeof wording === "string" ? wording : text.count(wording, Number(values["count"]));
  const shown = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === "number" ? text.number(value) : value,
  ]);
  return filledIn(words, Object.fromEntries(shown));
}
