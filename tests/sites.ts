/** Makes sites for tests through the API, and asks for their pages as a browser does. */
import { afterAll, beforeAll } from "bun:test";
import { startTestApp, type Answer, type RequestOptions, type TestApp } from "./harness.ts";

type Body = Readonly<Record<string, unknown>>;
type Made = Body & { readonly id: number };

export interface SiteMaker {
  site(body: Body): Promise<Made>;
  domain(body: Body): Promise<Made>;
  layout(body: Body): Promise<Made>;
  page(body: Body): Promise<Made>;
  paragraph(body: Body): Promise<Made>;
  category(body: Body): Promise<Made>;
  article(body: Body): Promise<Made>;
  /** Changes a record; throws if that is refused. */
  change(kind: string, ref: string | number, body: Body): Promise<Made>;
  remove(kind: string, ref: string | number): Promise<void>;
  /** Requests a page of a site anonymously. */
  at(host: string, path: string, options?: RequestOptions & { method?: string }): Promise<Answer>;
}

export function siteMaker(app: Pick<TestApp, "request" | "post" | "patch" | "delete" | "approve">): SiteMaker {
  const plural = (kind: string) => (kind === "category" ? "categories" : `${kind}s`);
  const expectStatus = (what: string, answer: Answer, status: number) => {
    if (answer.status !== status) throw new Error(`${what}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  const make = (kind: string) => async (body: Body) => {
    const named = kind === "domain" || "name" in body || kind === "article" ? body : { name: body["code"], ...body };
    return expectStatus(kind, await app.post(`/cms/${plural(kind)}.json`, { [kind]: named }), 201);
  };
  return {
    site: make("site"),
    // With several accounts a domain is pending; approve it, because these tests are about what follows.
    domain: async (body) => {
      const made = await make("domain")(body);
      if (made["status"] === "pending") await app.approve(String(made["name"]));
      return made;
    },
    layout: make("layout"),
    page: make("page"),
    paragraph: make("paragraph"),
    category: make("category"),
    article: make("article"),
    change: async (kind, ref, body) =>
      expectStatus(`${kind} ${ref}`, await app.patch(`/cms/${plural(kind)}/${ref}.json`, { [kind]: body }), 200),
    remove: async (kind, ref) =>
      void expectStatus(`${kind} ${ref}`, await app.delete(`/cms/${plural(kind)}/${ref}.json`), 204),
    at: (host, path, { method = "GET", headers, ...options } = {}) =>
      app.request(method, path, undefined, { token: null, ...options, headers: { host, ...headers } }),
  };
}

/** One server for the tests of a file; `seed` makes what they have in common. */
export function serverWithSites(seed: (make: SiteMaker) => Promise<unknown> = async () => {}) {
  let app: TestApp | undefined;
  const running = (): TestApp => {
    if (!app) throw new Error("the server has not started yet");
    return app;
  };
  const make = siteMaker({
    request: (...given) => running().request(...given),
    post: (...given) => running().post(...given),
    patch: (...given) => running().patch(...given),
    delete: (...given) => running().delete(...given),
    approve: (...given) => running().approve(...given),
  });
  beforeAll(async () => {
    app = await startTestApp({ env: { BASE_URL: "https://corestead.test" } });
    await seed(make);
  });
  afterAll(() => app?.stop());
  return {
    make,
    at: make.at,
    get app() {
      return running();
    },
  };
}
