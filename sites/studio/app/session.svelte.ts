/** Who is signed in, what they may do, and what the API has for them. */
import { get, request } from "./api.ts";
import type { Known } from "./forms.ts";
import { modules, unlisted } from "./names.ts";
import type { Document } from "./openapi.ts";
import { privilegesOf, resourcesOf, type Resource } from "./resources.ts";
import { text } from "./text.svelte.ts";
import { isMap } from "./values.ts";

export interface Person {
  readonly id: number;
  readonly login: string;
  readonly name: string;
  readonly role: string;
}

export interface MenuGroup {
  readonly name: string;
  readonly resources: readonly Resource[];
}

class Session {
  person = $state.raw<Person>({ id: 0, login: "", name: "", role: "guest" });
  accountName = $state("");
  privileges = $state.raw<ReadonlySet<string>>(new Set());
  /** All that there are. */
  allPrivileges: readonly string[] = [];
  /** Those that the person may see. */
  resources = $state.raw<readonly Resource[]>([]);

  async begin(): Promise<void> {
    const [me, document] = await Promise.all([get("/account/me.json"), get("/openapi.json")]);
    const person = me.json as MeAnswer; // the API's own description declares it so
    this.person = person;
    this.accountName = person.account.name;
    this.privileges = new Set(person.effective_privileges);
    text.timezone = person.account.timezone;
    const described = document.json as Document; // written by this server
    this.allPrivileges = privilegesOf(described);
    this.resources = resourcesOf(described).filter(({ privilege }) => this.may(privilege));
  }

  may(privilege: string | undefined): boolean {
    return privilege === undefined || this.privileges.has(privilege);
  }

  get known(): Known {
    return { resources: this.resources, privileges: this.allPrivileges };
  }

  /** The lists of the menu; those of plugins that the Studio does not know by name come last. */
  get menu(): MenuGroup[] {
    const top = this.resources.filter(({ path }) => !path.includes("{") && !unlisted.has(path));
    const known = modules.map(({ name, paths }) => ({
      name,
      resources: paths.flatMap((path) => top.find((resource) => resource.path === path) ?? []),
    }));
    const named = new Set(modules.flatMap(({ paths }) => paths));
    const others = top.filter(({ path }) => !named.has(path));
    return [...known, { name: "others", resources: others }].filter(({ resources }) => resources.length > 0);
  }

  async signOut(): Promise<void> {
    await request("DELETE", "/account/session.json");
    location.assign("/login");
  }
}

interface MeAnswer extends Person {
  readonly effective_privileges: readonly string[];
  readonly account: { readonly name: string; readonly timezone: string };
}

export const session = new Session();

/** The words by which a person knows a record. */
export function nameOf(record: unknown): string {
  if (!isMap(record)) return "";
  for (const field of ["name", "title", "login", "code", "host", "url_code", "id", "n"]) {
    const value = record[field];
    if ((typeof value === "string" && value.trim() !== "") || typeof value === "number") return String(value);
  }
  return "";
}
