/** A flow as it is being built: which start or step is chosen, where one is being added, and what is done with them. */
import { ownOf, sentenceOf, text, textOf, toasts, type Start } from "studio";
import { tick } from "svelte";
import type { Codes } from "./program/codes.svelte.ts";
import type { ProgramForm } from "./program/form.svelte.ts";
import type { StepKind } from "./program/kind.ts";
import { kindOf } from "./program/kinds.ts";
import { ofStart, storedBy } from "./program/scope.ts";
import { Sight } from "./program/sight.svelte.ts";
import {
  duplicated,
  inserted,
  isStep,
  moved,
  pathOf,
  removed,
  replaced,
  rowsOf,
  spotOf,
  stepAt,
  withBranch,
} from "./program/tree.ts";
import type { Branch, Direction, Program, ProgramChange, Step, StepPosition } from "./program/tree.ts";
import type { Starts } from "./starts.svelte.ts";
import { failureOf } from "./trial/outcome.ts";
import type { Trial } from "./trial/trial.svelte.ts";
import { loopsOf } from "./when.ts";
import { faultSaid, say, titleOfStep } from "./words.ts";

export interface Parts {
  readonly form: ProgramForm;
  readonly starts: Starts;
  readonly trial: Trial;
  readonly codes: Codes;
  /** The path of a step or the key of a start; `test` and `json` are panels of their own. */
  readonly selected: string;
  readonly onselect: (what: string) => void;
}

/** Below this the panel lies over the cards. */
const narrow = "(max-width: 1100px)";

export class Building {
  private readonly parts: () => Parts;
  canvas = $state<HTMLElement>();
  panel = $state<HTMLElement>();
  adding = $state.raw<StepPosition | undefined>();
  /** Said to those who do not see what has changed. */
  said = $state("");
  readonly sight: Sight;

  constructor(parts: () => Parts) {
    this.parts = parts;
    this.sight = new Sight(parts().codes, () => {
      const { form, starts, trial } = this.parts();
      const given = [...trial.inputKeys, ...form.inputNames];
      return { program: this.program, starts: starts.all, given, known: trial.known };
    });
  }

  readonly program = $derived.by<Program>(() => this.parts().form.program ?? []);
  readonly start = $derived.by(() => this.parts().starts.all.find(({ key }) => key === this.parts().selected));
  /** Of the chosen step; "" without one. */
  readonly path = $derived.by(() => {
    const { selected } = this.parts();
    return /^\d/.test(selected) && stepAt(this.program, selected) !== undefined ? selected : "";
  });
  readonly step = $derived(this.path === "" ? undefined : stepAt(this.program, this.path));
  readonly kind = $derived.by(() => kindOf(this.step, this.parts().codes.serviceOf));
  readonly shows = $derived.by(() => {
    const { selected } = this.parts();
    if (this.adding) return "add";
    if (selected === "test" || selected === "json") return selected;
    if (this.start) return "start";
    return isStep(this.step) ? "step" : this.step === undefined ? "" : "json";
  });
  private readonly loops = $derived.by(() =>
    loopsOf(
      rowsOf(this.program).flatMap((row) => (row.kind === "step" ? [row] : [])),
      this.parts().starts.all,
    ),
  );
  /** How the panel of the chosen step says what went wrong in the last test. */
  readonly failure = $derived.by(() => {
    const { failed } = this.parts().trial;
    return failed?.path === this.path ? failureOf(failed.error) : "";
  });

  /** By which words a step starts its own flow; "" if it does not. */
  loopAt(at: string): string {
    const loop = this.loops.find((one) => one.path === at);
    return loop ? sentenceOf(loop.start, this.parts().codes) : "";
  }

  warningsOf(at: string): string[] {
    const loop = this.loopAt(at);
    const told = this.parts().form.warnings.filter((one) => one.path === at);
    return [
      ...(loop ? [say("startsItself", { when: loop })] : []),
      ...told.map((fault) => faultSaid(fault, stepAt(this.program, at))),
    ];
  }

  titleOf(step: unknown): string {
    return titleOfStep(step, this.parts().codes.serviceOf);
  }

  private find(selector: string): HTMLElement | undefined {
    return this.canvas?.querySelector<HTMLElement>(selector) ?? undefined;
  }

  async focusCard(at: string): Promise<void> {
    await tick();
    this.find(`[data-path="${CSS.escape(at)}"]`)?.focus();
  }

  async focusPanel(): Promise<void> {
    await tick();
    const field = ".body :is(select, textarea, input:not([type=radio]), button)";
    (this.panel?.querySelector<HTMLElement>(field) ?? this.panel)?.focus({ preventScroll: true });
  }

  choose(what: string): void {
    this.adding = undefined;
    this.parts().onselect(what);
    void tick().then(() => matchMedia(narrow).matches && this.panel?.focus({ preventScroll: true }));
  }

  close(): void {
    const { adding } = this;
    const back = adding ? pathOf(adding) : this.parts().selected;
    this.adding = undefined;
    if (!adding) this.parts().onselect("");
    const place = `[data-${adding ? "add" : "path"}="${CSS.escape(back)}"]`;
    void tick().then(() => (this.find(place) ?? this.find("button"))?.focus());
  }

  private take(changed: ProgramChange | undefined): void {
    if (!changed) return;
    const hadFocus = this.canvas?.contains(document.activeElement) ?? false;
    this.parts().form.change(changed.program);
    this.parts().onselect(changed.path);
    if (hadFocus) void this.focusCard(changed.path);
  }

  mayMove(way: Direction): boolean {
    return this.path !== "" && moved(this.program, this.path, way) !== undefined;
  }

  move(way: Direction): void {
    const changed = this.path === "" ? undefined : moved(this.program, this.path, way);
    this.take(changed);
    if (!changed) return;
    this.said = say("movedTo", { kind: this.titleOf(this.step), place: String(this.sight.numberOf(changed.path)) });
  }

  duplicate(): void {
    this.take(this.path === "" ? undefined : duplicated(this.program, this.path));
  }

  change(step: Step): void {
    this.parts().form.change(replaced(this.program, this.path, step));
  }

  addBranch(branch: Branch): void {
    if (isStep(this.step)) this.change(withBranch(this.step, branch, []));
  }

  remove(): void {
    const { program: before, path: at } = this;
    if (at === "") return;
    const { form, onselect } = this.parts();
    const what = this.titleOf(this.step);
    const after = removed(before, at);
    const hadFocus = this.canvas?.contains(document.activeElement) ?? false;
    const spot = spotOf(at);
    const near = [at, pathOf({ ...spot, at: spot.at - 1 }), spot.block.split(".").slice(0, -1).join(".")];
    const next = near.find((one) => one !== "" && stepAt(after, one) !== undefined) ?? "";
    form.change(after);
    onselect(next);
    if (hadFocus) void this.focusCard(next);
    toasts.offerUndo(say("removed", { kind: what }), () => {
      if (form.program === after) this.take({ program: before, path: at });
      else this.take(inserted(this.program, spotOf(at), stepAt(before, at)));
    });
  }

  beginAdding(): void {
    const after = this.path === "" ? undefined : spotOf(this.path);
    this.adding = after ? { ...after, at: after.at + 1 } : { block: "", at: this.program.length };
  }

  async add(kind: StepKind, type: string): Promise<void> {
    if (!this.adding) return;
    const { form, codes, starts, onselect } = this.parts();
    const taken = rowsOf(this.program).flatMap((row) => (row.kind === "step" ? storedBy(row.step) : []));
    const changed = inserted(this.program, this.adding, ofStart(codes.begins(kind, taken, type), starts.all));
    this.adding = undefined;
    form.change(changed.program);
    onselect(changed.path);
    await this.focusPanel();
  }

  addStart(kind: Start["kind"], given: Partial<Start> = {}): void {
    const { starts, onselect } = this.parts();
    const added = starts.add(kind, given);
    this.adding = undefined;
    onselect(added.key);
    void this.focusPanel();
  }

  removeStart(key: string): void {
    const { starts, onselect } = this.parts();
    const before = starts.all;
    starts.remove(key);
    onselect("");
    toasts.offerUndo(text.messages.done, () => starts.put(before));
  }

  /** Leads to the step that failed. Where the panel lies over the cards it gives way to what they say. */
  async test(really?: string): Promise<void> {
    const { trial, codes, selected, onselect } = this.parts();
    this.adding = undefined;
    if (selected === "") onselect("test");
    await trial.test(this.program, codes, really);
    if (trial.failed) {
      onselect(trial.failed.path);
      this.said = `${say("failedHere")} ${failureOf(trial.failed.error)}`;
      await this.focusCard(trial.failed.path);
    } else if (trial.problem) onselect("test");
    else {
      this.said = say("testWentWell");
      if (matchMedia(narrow).matches) this.close();
    }
  }

  /** What the chosen step calls outside, as the test names it; "" if nothing. */
  readonly call = $derived.by(() => {
    const { step } = this;
    if (!isStep(step) || step["type"] !== "connector") return "";
    return `${textOf(step["connector"])}.${textOf(step["method"])}`;
  });

  /** Tests again, and really sends what the chosen step had left out. */
  async callReally(): Promise<void> {
    const { trial } = this.parts();
    trial.reallyCalls = [...new Set([...trial.reallyCalls, this.call])];
    await this.test();
  }

  /** Arrows go from card to card, in the order in which they stand. */
  onkeydown(event: KeyboardEvent): void {
    const here = document.activeElement;
    const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
    if (!isPlain || !(here instanceof HTMLElement) || here.dataset["path"] === undefined) return;
    const { selected, onselect } = this.parts();
    const cards = [...(this.canvas?.querySelectorAll<HTMLElement>("[data-path]") ?? [])];
    const at = cards.indexOf(here);
    const last = cards.length - 1;
    const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last };
    const to = ownOf(places, event.key);
    if (to !== undefined) {
      const next = cards[Math.max(0, Math.min(last, to))];
      next?.focus();
      if (next?.dataset["path"] !== undefined) onselect(next.dataset["path"]);
    } else if (event.key === "Enter" && here.dataset["path"] === selected) void this.focusPanel();
    else if (event.key === "Delete" && here.dataset["path"] === this.path) this.remove();
    else return;
    event.preventDefault();
  }
}
