/** The server and the calls that the tests of public methods share. */
import { afterAll, beforeAll, expect } from "bun:test";
import { startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { plugins } from "../../index.ts";
import { follower, traces } from "../../../tests/traces.ts";

interface CallOptions {
  /** The value of `core_key`. */
  cookie?: string;
  token?: string | null;
  headers?: Record<string, string>;
}

export const keyOf = (answer: Answer) =>
  /^core_key=([\w-]{43});/.exec(answer.headers.get("set-cookie") ?? "")?.[1] ?? "";
export const unknownId = "019a9c1e-0000-7000-8000-000000000001";

/** Starts a server without limits before the tests of a file, and stops it after them. */
export function publicServer() {
  let app: TestApp;
  let databases = 0;
  beforeAll(async () => {
    const env = { RATE_LIMIT_REQUESTS: "100000", RATE_LIMIT_CREATES: "100000" };
    app = await startTestApp({ plugins: [...plugins, follower], env });
  });
  afterAll(() => app.stop());
  return {
    get app() {
      return app;
    },

    /** Makes a database with these public methods; its code. */
    async database(public_methods: unknown, schema: unknown = null): Promise<string> {
      const code = `db-${++databases}`;
      const answer = await app.post("/core/dbs", { db: { name: code, code, schema, public_methods } });
      expect([answer.status, answer.text]).toEqual([201, answer.text]);
      return code;
    },

    /** A refused call leaves no record and no event. */
    async call(
      code: string,
      method: string,
      body?: unknown,
      { cookie, token = null, headers = {} }: CallOptions = {},
    ): Promise<Answer> {
      const before = await traces(app, "records");
      const answer = await app.post(`/core/db/${code}/${method}`, body ?? {}, {
        token,
        headers: { ...headers, ...(cookie && { cookie: `core_key=${cookie}` }) },
      });
      if (answer.status >= 400) expect(await traces(app, "records")).toEqual(before);
      return answer;
    },

    read: (code: string, path: string, cookie?: string): Promise<Answer> =>
      app.get(`/core/db/${code}/${path}`, { token: null, headers: cookie ? { cookie: `core_key=${cookie}` } : {} }),
  };
}
