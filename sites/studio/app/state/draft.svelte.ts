/** What is typed at one place and not saved: kept in this browser, and offered when somebody comes back. */
import { draftKey, dropDraft, keepDraft, readDraft, writeDrafts, type Draft } from "../forms/drafts.ts";
import type { FormField, Input } from "../resources/forms.ts";
import { session } from "./session.svelte.ts";

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

  /** Secrets among the fields are not kept. */
  keep(inputs: Readonly<Record<string, Input>>, fields: readonly FormField[] = []): void {
    keepDraft(this.key, fields, inputs);
  }

  /** What was found; it is not offered again. */
  take(): Readonly<Record<string, Input>> {
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
