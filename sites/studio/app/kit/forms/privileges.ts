/** Privileges by what they are for, and what each allows in the language of the Studio. */
import { words as wordsOf } from "../../resources/names.ts";
import { ownOf } from "../../resources/values.ts";
import type { Language } from "../../state/text.svelte.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

const catalogues = { en, pl, de } as const;

export interface Privilege {
  readonly name: string;
  readonly plugin: string;
  /** In English, as its plugin declares it. */
  readonly doc: string;
  readonly roles: readonly string[];
}

export interface PrivilegeGroup {
  readonly title: string;
  readonly privileges: readonly Privilege[];
}

const groups = {
  build: ["prompts", "apps", "dbs"],
  automate: ["flows", "crons", "webhooks"],
  publish: ["cms", "media"],
  manage: ["api_tokens", "users", "settings", "mails", "activity", "certificates", "backups", "sign_in_providers"],
} as const;

/** Those of plugins that the Studio does not know come last. */
export function grouped(privileges: readonly Privilege[], language: Language): PrivilegeGroup[] {
  const titles = catalogues[language].groups;
  const named = new Set<string>(Object.values(groups).flat());
  const known = (["build", "automate", "publish", "manage"] as const).map((group) => ({
    title: titles[group],
    privileges: groups[group].flatMap((name) => privileges.find((one) => one.name === name) ?? []),
  }));
  const others = { title: titles.others, privileges: privileges.filter(({ name }) => !named.has(name)) };
  return [...known, others].filter((group) => group.privileges.length > 0);
}

type Named = Pick<Privilege, "name" | "doc">;

export function docOf({ name, doc }: Named, language: Language): string {
  return wordsFor(name, language)?.[1] ?? doc;
}

/** One that the Studio does not know is called by its name. */
export function nameOfRight({ name }: Pick<Named, "name">, language: Language): string {
  return wordsFor(name, language)?.[0] ?? wordsOf(name);
}

function wordsFor(name: string, language: Language): readonly string[] | undefined {
  return ownOf<readonly string[]>(catalogues[language].privileges, name);
}
