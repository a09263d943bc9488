/** What starts a flow: its webhooks and crons as they are stored, and as somebody is changing them. They go live with the flow. */
import {
  ApiError,
  isMap,
  isWhole,
  KeptDraft,
  mapsIn,
  messageOf,
  newStart,
  request,
  same,
  startOf,
  triggerOf,
  type Start,
} from "studio";

export class Starts {
  private stored = $state.raw<readonly Start[]>([]);
  /** As they are to be; undefined as long as nothing was changed. */
  private wanted = $state.raw<readonly Start[]>();
  isLoaded = $state(false);
  /** What the server has refused, by the key of a start. */
  problems = $state.raw<Readonly<Record<string, string>>>({});
  readonly all = $derived(this.wanted ?? this.stored);
  readonly isChanged = $derived(this.wanted !== undefined && !same(this.wanted, this.stored));
  private readonly draft: KeptDraft;
  private number = 0;
  private tag: string | undefined;

  constructor(id: string) {
    this.draft = new KeptDraft(`/connect/flows/${id}/starts`);
  }

  async load(code: string): Promise<void> {
    this.take(await request("GET", pathOf(code)));
    const kept = this.draft.take()["starts"];
    if (typeof kept === "string" && !this.wanted) this.wanted = drafted(kept);
    this.isLoaded = true;
  }

  add(kind: Start["kind"], given: Partial<Start> = {}): Start {
    const used = new Set(this.all.map(({ key }) => key));
    do this.number++;
    while (used.has(`new ${this.number}`));
    const start = newStart(kind, this.number, given);
    this.put([...this.all, start]);
    return start;
  }

  change(key: string, part: Partial<Start>): void {
    const { [key]: _, ...others } = this.problems;
    this.problems = others;
    this.put(this.all.map((start) => (start.key === key ? { ...start, ...part } : start)));
  }

  remove(key: string): void {
    this.put(this.all.filter((start) => start.key !== key));
  }

  put(starts: readonly Start[]): void {
    this.wanted = starts;
    if (this.isChanged) this.draft.keep({ starts: JSON.stringify(starts) });
    else this.draft.forget();
  }

  reset(): void {
    this.wanted = undefined;
    this.problems = {};
    this.draft.forget();
  }

  /** The key of the first start that does not say yet what it waits for. */
  get unfinished(): string | undefined {
    return this.all.find((start) => !isWhole(start))?.key;
  }

  /** All on or all off, as they are stored; what is being changed stays so. */
  async flip(code: string, active: boolean): Promise<void> {
    await this.load(code);
    this.take(await this.send(code, this.stored, active));
    const now = new Map(this.stored.map((start) => [start.key, start]));
    if (this.wanted)
      this.put(this.wanted.map((start) => ({ ...start, active, next: now.get(start.key)?.next ?? start.next })));
  }

  /** Stores them as they are to be, on or off. Gives back whether the server took them. */
  async store(code: string, active: boolean): Promise<boolean> {
    if (!this.isChanged && this.all.every((start) => start.active === active)) return true;
    const { all, wanted } = this;
    try {
      this.take(await this.send(code, all, active));
      const stored = new Map(all.map(({ key }, at) => [key, this.stored[at]]));
      const place = ({ key }: Start) => ({ key: stored.get(key)?.key ?? key, id: stored.get(key)?.id ?? "" });
      // What was typed meanwhile is of what is stored now.
      if (this.wanted && this.wanted !== wanted) this.put(this.wanted.map((start) => ({ ...start, ...place(start) })));
      else this.reset();
      this.problems = {};
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) {
        // What somebody else has added meanwhile stands beside one's own.
        const before = new Set(this.stored.map(({ key }) => key));
        await this.load(code);
        this.put([...all, ...this.stored.filter(({ key }) => !before.has(key))]);
        return this.store(code, active);
      }
      const said =
        error instanceof ApiError && error.errors["triggers"] ? error.errors["triggers"] : [messageOf(error)];
      this.problems = Object.fromEntries(said.map((one) => problemOf(one, all)));
      return false;
    }
  }

  private send(code: string, starts: readonly Start[], active: boolean) {
    const triggers = starts.map((one) => triggerOf(one, active));
    return request("PUT", pathOf(code), { body: { triggers }, ifMatch: this.tag });
  }

  private take({ json, headers }: { readonly json: unknown; readonly headers: Headers }): void {
    this.tag = headers.get("etag") ?? undefined;
    this.stored = mapsIn(json).flatMap((trigger) => (trigger["kind"] === "action" ? [] : startOf(trigger)));
  }
}

const pathOf = (code: string) => `/connect/flows/${encodeURIComponent(code)}/triggers.json`;

/** `triggers[1].schedule is …` -> the key of the second start, and what is wrong with it. */
function problemOf(said: string, starts: readonly Start[]): [string, string] {
  const [whole = "", at = "0"] = /^`?triggers\[(\d+)\]`?[.:]? ?/.exec(said) ?? [];
  return [starts[Number(at)]?.key ?? "", said.slice(whole.length)];
}

function drafted(kept: string): readonly Start[] | undefined {
  try {
    const starts: unknown = JSON.parse(kept);
    return Array.isArray(starts)
      ? starts.filter(isMap).map((start): Start => ({ ...newStart("webhook", 0), ...start }))
      : undefined;
  } catch {
    return undefined;
  }
}
