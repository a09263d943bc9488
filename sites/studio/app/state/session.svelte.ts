/** Who is signed in, what they may do, and what the API has for them. */
import { pages as builtIn } from "studio:pages";
import { placeOf } from "../address.ts";
import { actAs, ApiError, askEarly, get, request, sessionPath } from "../server/request.ts";
import { isolated } from "../bidi.ts";
import type { FormContext } from "../resources/forms.ts";
import type { Page } from "../kit/page.ts";
import { menuOf, type AppEntry, type MenuGroup } from "../frame/menu.ts";
import type { Document } from "../resources/openapi.ts";
import { privilegesOf, resourcesOf, type Resource } from "../resources/resources.ts";
import { framePath, menu, type FrameAnswer } from "./menu.svelte.ts";
import { router } from "./router.svelte.ts";
import { text } from "./text.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

export interface Person {
  readonly id: number;
  readonly login: string;
  readonly name: string;
  readonly role: string;
}

const fastMs = 100;
const slowMs = 1000;

class Session {
  person = $state.raw<Person>({ id: 0, login: "", name: "", role: "guest" });
  accountName = $state("");
  privileges = $state.raw<ReadonlySet<string>>(new Set());
  allPrivileges: readonly string[] = [];
  /** Those that the person may see. */
  resources = $state.raw<readonly Resource[]>([]);
  pages = $state.raw<readonly Page[]>([]);
  /** By module. */
  apps = $state.raw<Readonly<Record<string, readonly AppEntry[]>>>({});
  readonly menu = $derived<readonly MenuGroup<Page>[]>(menuOf(this.resources, this.pages, this.apps));

  /** Whether what the API has is known: the lists of the menu, and all that is made from them. */
  isDescribed = $state(false);
  /** Settles then. */
  described: Promise<void> = Promise.resolve();

  /** Home, and a page that says so, do not wait for the description: it is as large as the scripts. */
  async begin(): Promise<void> {
    const own = placeOf(router.path, [], builtIn);
    const waits = own.kind !== "home" && !(own.kind === "page" && "early" in own.page);
    const document = waits ? get("/openapi.json") : undefined;
    const frame = await get(framePath);
    // The API's own description declares this form.
    const { me: person, pages, modules, ...shown } = frame.json as FirstAnswer;
    menu.take(shown);
    this.person = person;
    actAs(person.id);
    this.accountName = person.account.name;
    this.privileges = new Set(person.effective_privileges);
    this.takePages(pages);
    const place = placeOf(router.path, [], this.pages);
    if (place.kind === "page" && "first" in place.page) askEarly(place.page.first?.(place.params, router.query) ?? []);
    text.timezone = person.account.timezone;
    this.takeApps(modules);
    this.described = this.#describe(document ?? get("/openapi.json"));
    this.described.catch((error: unknown) => toasts.fail(error));
    // On a fast line all comes at once; on a slow one what is there is shown.
    if (!waits && performance.now() > slowMs) return;
    await (waits ? this.described : Promise.race([this.described, new Promise((go) => setTimeout(go, fastMs))]));
  }

  async #describe(document: ReturnType<typeof get>): Promise<void> {
    const described = (await document).json as Document; // the form is its own
    this.allPrivileges = privilegesOf(described);
    this.resources = resourcesOf(described).filter(({ privilege }) => this.may(privilege));
    this.isDescribed = true;
  }

  /** Again: an app has come to a module, or has left it. */
  async readApps(): Promise<void> {
    this.takeApps((await get("/core/modules.json")).json);
  }

  private takeApps(modules: unknown): void {
    // The API's own description declares its form.
    this.apps = Object.fromEntries((modules as ModuleApps[]).map(({ name, apps }) => [name, apps]));
  }

  /** Again: a plugin may have been changed. */
  async readPages(): Promise<void> {
    this.takePages((await get("/studio/-/pages.json")).json);
  }

  private takePages(external: unknown): void {
    // The API's own description declares its form.
    this.pages = [...builtIn.filter(({ privilege }) => this.may(privilege)), ...(external as Page[])];
  }

  /** Undefined if the person may not see it. */
  find(path: string): Resource | undefined {
    return this.resources.find((one) => one.path === path);
  }

  /** One that whoever sees the page may see. */
  resource(path: string): Resource {
    const found = this.find(path);
    if (!found) throw new Error(`the API describes no ${path}`);
    return found;
  }

  may(privilege: string | undefined): boolean {
    return privilege === undefined || this.privileges.has(privilege);
  }

  get known(): FormContext {
    return { resources: this.resources, privileges: this.allPrivileges };
  }

  /** The title of the browser's tab. */
  titled(page: string): string {
    return `${isolated(page.slice(0, 200))} – ${isolated(this.accountName)}`;
  }

  async signOut(): Promise<void> {
    let next = "/login";
    try {
      // The provider that signed the person in may sign them out too.
      const answer = await request("DELETE", sessionPath);
      if (answer.status === 200) next = (answer.json as { readonly next: string }).next; // as the API's description declares it
    } catch (error) {
      // It has ended already, or another tab has signed somebody else in, whose session stays.
      if (!(error instanceof ApiError && error.status === 401)) return toasts.fail(error);
    }
    location.assign(next);
  }
}

interface MeAnswer extends Person {
  readonly effective_privileges: readonly string[];
  readonly account: { readonly name: string; readonly timezone: string };
}

interface FirstAnswer extends FrameAnswer {
  readonly me: MeAnswer;
  readonly pages: unknown;
  readonly modules: unknown;
}

interface ModuleApps {
  readonly name: string;
  readonly apps: readonly AppEntry[];
}

export const session = new Session();

/** Who the cookie belongs to now, whoever this page is for; undefined if nobody is signed in. */
export async function signedIn(): Promise<{ readonly id: number; readonly name: string } | undefined> {
  const response = await fetch("/account/me.json", { headers: { accept: "application/json" } }).catch(() => undefined);
  if (!response?.ok) return undefined;
  const { id, name, login } = (await response.json()) as Person; // as the API's description declares it
  return { id, name: name || login };
}
