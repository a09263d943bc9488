import { test } from "bun:test";
import { startTestApp, eventually, person } from "./harness.ts";
import { startReceiver } from "./receiver.ts";
test("x", async () => {
  const app = await startTestApp();
  const remote = startReceiver();
  const show = (l: string, a: any) => console.log(l, a.status, (a.text ?? "").slice(0, 600));
  const conn = await app.post("/connect/connectors.json", { connector: { name: "Remote", code: "remote", url: remote.url, secret_token: "s3cr3t-value-1234", fields: { methods: { get: { path: "/g/{id}" }, post: { method: "POST", path: "/p", body: { a: "{a}" } } } } } });
  show("conn", conn);
  const flow = async (program: any, code: string, extra = {}) => app.post("/connect/flows.json", { flow: { name: code, code, fields: { program }, ...extra } });
  const run = async (program: any, input: any = {}, q = "?wait=20") => { const code = "f" + crypto.randomUUID().slice(0, 8); const f = await flow(program, code); if (f.status !== 201) return f; return app.post(`/connect/flows/${code}/run.json${q}`, input); };
  const short = (a: any) => ({ status: a.status, text: a.json?.status ? JSON.stringify({ s: a.json.status, d: a.json.data, e: a.json.error, steps: a.json.steps?.map((x: any) => `${x.id}:${x.type}:${x.status}${x.error ? "!" + x.error : ""}`) }) : a.text });
  const r = async (l: string, p: any, i: any = {}) => show(l, short(await run(p, i)));

  await flow([{ type: "fail", message: "deep" }], "sub");
  const full = async (l: string, p: any, i: any = {}) => { const a = await run(p, i); show(l, short(a)); const g = await app.get(`/connect/flow_processes/${a.json.id}.json`); show(l + " GET", short(g)); };
  await full("if fail", [{ type: "if", condition: "true", then: [{ type: "fail", message: "x" }] }]);
  await full("each fail", [{ type: "each", in: [1, 2, 3], do: [{ type: "if", condition: "item == 2", then: [{ type: "fail", message: "x" }] }] }]);
  await full("sub fail", [{ type: "flow", flow: "sub" }]);
  await full("conn in if fail", [{ type: "if", condition: "true", then: [{ type: "connector", connector: "remote", method: "nope" }] }]);
  await full("on_error on sub", [{ type: "flow", id: "s", flow: "sub", on_error: [{ type: "return", value: "{{ error }}" }] }]);
  await full("retry each", [{ type: "each", in: [1, 2], retry: { times: 1, delay: 0 }, do: [{ type: "fail", message: "x{{ item }}" }] }]);
  await remote.stop(); await app.stop();
}, 120000);
