/** What is typed at one place and not saved: kept in this browser, and offered when somebody comes back. */
import { draftKey, dropDraft, keepDraft, readDraft, writeDrafts, type Draft } from "../forms/drafts.ts";
import { merged, type Conflict } from "../forms/merge.ts";
import type { FormField, Input } from "../resources/forms.ts";
import { session } from "./session.svelte.ts";

type Inputs = Readonly<Record<string, Input>>;

addEventListener("pagehide", writeDrafts);
document.addEventListener("visibilitychange", () => document.hidden && writeDrafts());

export class KeptDraft {
  /** What was typed before, until it is taken or dropped. */
  found = $state.raw<Draft | undefined>();
  private readonly key: string;

  /** `place`: the address of the form. */
  constructor(place: string) {
    this.key = draftKey(session.person.id, place);
    this.found = readDraft(this.key);
  }

  /** Secrets among the fields are not kept. `base`: what the server has in these fields. */
  keep(inputs: Inputs, fields: readonly FormField[] = [], base?: Inputs): void {
    keepDraft(this.key, fields, inputs, base);
  }

  /** As `take`, beside what the server has now: fields that somebody has changed since are in conflict. */
  takeOver(now: Inputs): { readonly inputs: Inputs; readonly conflicts: readonly Conflict[] } {
    const base = { ...now, ...this.found?.base };
    const inputs = Object.fromEntries(Object.entries(this.take()).filter(([name]) => name in now));
    return { inputs, conflicts: merged(base, now, inputs).conflicts };
  }

  /** What was found; it is not offered again. */
  take(): Inputs {
    const inputs = this.found?.inputs ?? {};
    this.found = undefined;
    return inputs;
  }

  /** It is saved. */
  forget(): void {
    dropDraft(this.key);
  }

  /** It is not wanted any more. */
  drop(): void {
    this.forget();
    this.found = undefined;
  }
}
