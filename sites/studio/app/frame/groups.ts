/** The groups of the menu: a person's own things, and the lists that belong beside them. Pure. */
import { base } from "../address.ts";
import type { IconName } from "../icons.ts";
import { iconOf, type MenuGroup, type MenuItem, type PageEntry } from "./menu.ts";
import type { ThingKind } from "./things.ts";

export type GroupName = "data" | "apps" | "automation" | "sites" | "ai" | "admin";

interface Group {
  readonly name: GroupName;
  readonly kind?: ThingKind;
  /** Lists of the API that stand below the things. */
  readonly lists: readonly string[];
  /** Whose pages and apps of plugins stand here. */
  readonly module?: string;
}

export const groups: readonly Group[] = [
  { name: "data", kind: "table", lists: ["/core/media"], module: "core" },
  { name: "apps", kind: "app", lists: [] },
  {
    name: "automation",
    kind: "flow",
    lists: ["/connect/flow_processes", "/connect/connectors", "/account/crons", "/connect/hooks", "/account/webhooks"],
    module: "connect",
  },
  { name: "sites", kind: "site", lists: [], module: "cms" },
  { name: "ai", lists: ["/core/prompts"] },
  {
    name: "admin",
    lists: ["/account/users", "/account/api_tokens", "/core/activity"],
    module: "account",
  },
];

/** What is behind these: the page of its list leads there. */
const behind: ReadonlySet<string> = new Set([
  "/core/dbs",
  "/core/apps",
  "/connect/flows",
  "/cms/sites",
  ...["pages", "layouts", "paragraphs", "articles", "categories", "domains", "redirects"].map((name) => `/cms/${name}`),
]);

/** The parts of what looks after the account: those of one line stand side by side in the bar, and the first in the menu. */
const admin = [
  "people teams departments groups access invitations",
  "settings mail_server mails mail_texts sign_in_providers activity backups certificates",
].map((line) => line.split(" ").map((part) => `${base}/account/${part}`));

export function adminPartsOf(address: string): readonly string[] | undefined {
  return admin.find((parts) => parts.includes(address));
}

export interface Entry<P extends PageEntry> {
  readonly item: MenuItem<P>;
  readonly icon: IconName;
}

/** By the name of a group, what stands in it below its things; modules of plugins are groups of their own. */
export function entriesOf<P extends PageEntry & { readonly icon?: string | null }>(
  menu: readonly MenuGroup<P>[],
): ReadonlyMap<string, readonly Entry<P>[]> {
  const all = menu.flatMap((group) => group.items.map((item) => ({ group: group.name, item })));
  const found = new Map<string, Entry<P>[]>();
  const add = (name: string, item: MenuItem<P>) =>
    found.set(name, [...(found.get(name) ?? []), { item, icon: iconOf(item) }]);
  for (const { name, lists } of groups)
    for (const path of lists) for (const { item } of all) if (item.resource?.path === path) add(name, item);
  const listed = new Set(groups.flatMap(({ lists }) => lists));
  for (const { group, item } of all) {
    const path = item.resource?.path;
    if (path !== undefined && (listed.has(path) || behind.has(path))) continue;
    // One's own page stands behind the account's name.
    const first = adminPartsOf(item.address)?.[0];
    const isBeside = first !== item.address && all.some((other) => other.item.address === first);
    if (item.address === `${base}/account/me` || isBeside) continue;
    add(groups.find(({ module }) => module === group)?.name ?? group, item);
  }
  return found;
}
