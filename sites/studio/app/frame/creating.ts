/** What a person may make, where, and by which keys: `C`, then the letter. */
import { addressOf } from "../address.ts";
import { shownPath } from "../shown.ts";
import type { IconName } from "../icons.ts";
import type { Resource } from "../resources/resources.ts";
import { text } from "../state/text.svelte.ts";

interface Making {
  readonly kind: "table" | "app" | "flow" | "site" | "prompt";
  readonly path: string;
  readonly icon: IconName;
  readonly color: string;
  readonly keys?: string;
}

const makings: readonly Making[] = [
  { kind: "table", path: "/core/dbs", icon: "table", color: "orange", keys: "c t" },
  { kind: "app", path: "/core/apps", icon: "app", color: "indigo", keys: "c a" },
  { kind: "flow", path: "/connect/flows", icon: "flow", color: "amber", keys: "c f" },
  { kind: "site", path: "/cms/sites", icon: "globe", color: "green" },
  { kind: "prompt", path: "/core/prompts", icon: "prompt", color: "plum", keys: "c p" },
];

export interface Make extends Making {
  readonly address: string;
  /** `Add a table` */
  readonly add: string;
  readonly name: string;
}

interface Rights {
  find(path: string): Resource | undefined;
  may(privilege: string | undefined): boolean;
}

export function makesOf(rights: Rights): Make[] {
  return makings.flatMap((one) => {
    const resource = rights.find(one.path);
    if (!resource?.create || !rights.may(resource.create.privilege)) return [];
    const { adds, makes } = text.messages.frame;
    return [
      { ...one, address: shownPath(`${addressOf(resource, [])}/new`), add: adds[one.kind], name: makes[one.kind] },
    ];
  });
}
