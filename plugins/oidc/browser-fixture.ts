/** A browser without scripts that follows redirects between the server and a provider and keeps their cookies. */
import type { TestApp } from "../../tests/harness.ts";

export interface Visit {
  readonly url: string;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export function startBrowser(app: TestApp, headers: Readonly<Record<string, string>> = {}) {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };

  /** With `form` as a browser sends one from a page of that origin. */
  const visit = async (url: string, form?: Readonly<Record<string, string>>): Promise<Visit> => {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const origin = form && { origin: new URL(url).origin, "content-type": "application/x-www-form-urlencoded" };
    const sent = { ...headers, ...origin, ...(cookie && { cookie }) };
    const method = form ? "POST" : "GET";
    const raw = form && new URLSearchParams(form).toString();
    const answer = url.startsWith(app.origin)
      ? await app.request(method, url.slice(app.origin.length), undefined, {
          token: null,
          headers: sent,
          ...(raw !== undefined && { raw }),
        })
      : await read(
          await fetch(url, { method, redirect: "manual", headers: sent, ...(raw !== undefined && { body: raw }) }),
        );
    for (const set of answer.headers.getSetCookie()) {
      const [name = "", ...value] = (set.split(";")[0] ?? "").split("=");
      if (value.join("=") === "") jar.delete(name);
      else jar.set(name, value.join("="));
    }
    return { url, ...answer };
  };

  /** The first visit that leads nowhere else, or whose address `stops` names. */
  const follow = async (start: string, stops: (url: string) => boolean = () => false): Promise<Visit> => {
    let url = new URL(start, app.origin).href;
    for (let hops = 0; hops < 12; hops += 1) {
      const made = await visit(url);
      const location = made.headers.get("location");
      if (location === null) return made;
      url = new URL(location, url).href;
      if (stops(url)) return { ...made, url };
    }
    throw new Error(`${start} leads on and on`);
  };

  return {
    visit,
    follow,
    cookie: (name: string) => jarOf(app.origin).get(name),
    /** Whom the session is of; undefined if there is none. */
    async me(): Promise<{ id: number; login: string; role: string; team_ids: number[]; name: string } | undefined> {
      const { status, text } = await visit(`${app.origin}/account/me.json`);
      return status === 200 ? JSON.parse(text) : undefined;
    },
    forget: () => jars.clear(),
  };
}

export type Browser = ReturnType<typeof startBrowser>;

async function read(response: Response): Promise<Omit<Visit, "url">> {
  return { status: response.status, text: await response.text(), headers: response.headers };
}
