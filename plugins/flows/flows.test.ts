import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import accounts from "../accounts/plugin.ts";
import connectors from "../connectors/plugin.ts";
import tokens from "../tokens/plugin.ts";
import flows from "./plugin.ts";

let app: TestApp;
let remote: Bun.Server<undefined>;
beforeAll(async () => {
  app = await startTestApp({ plugins: [accounts, tokens, connectors, flows] });
  remote = Bun.serve({ port: 0, fetch: async (request) => Response.json({ main: { temp: 24.5 }, path: new URL(request.url).pathname, auth: request.headers.get("authorization"), key: request.headers.get("idempotency-key") }) });
});
afterAll(async () => { await app.stop(); await remote.stop(true); });

test("a flow calls a connector", async () => {
  const connector = await app.post("/connect/connectors.json", { connector: { name: "Weather", url: `http://127.0.0.1:${remote.port}/v1`, secret_token: "very-secret-token", fields: { methods: { current: { method: "POST", path: "/weather/{city}" } } } } });
  console.log(connector.text);
  const call = await app.post("/connect/connectors/weather/current", { city: "Kraków" });
  console.log(call.status, call.text);
  const program = [
    { type: "connector", connector: "weather", method: "current", params: { city: "{{ city }}" }, as: "weather" },
    { type: "mutation", set: { temp: "{{ weather.main.temp }}" } },
    { type: "if", condition: "temp > 20", then: [{ type: "mutation", set: { advice: "hat {{ temp }}" } }] },
    { type: "return", value: { t: "{{ temp }}", a: "{{ advice }}" } },
  ];
  const flow = await app.post("/connect/flows.json", { flow: { name: "Advice", fields: { program } } });
  console.log(flow.status, flow.text);
  const run = await app.post("/connect/flows/advice/run.json", { city: "Kraków" });
  console.log(run.status, JSON.stringify(run.json, null, 1));
  const shown = await app.get(`/connect/flow_processes/${run.json.id}.json`);
  expect(shown.json).toMatchObject({ status: "finished", data: { t: 24.5, a: "hat 24.5" } });
  const pure = await app.post("/connect/flows.json", { flow: { name: "Pure", fields: { program: [{ type: "mutation", set: { a: 1 } }, { type: "each", in: [1, 2, 3], as: "x", do: [{ type: "mutation", set: { a: "{{ a | plus: x }}" } }] }] } } });
  const done = await app.post("/connect/flows/pure/run.json");
  console.log(pure.status, done.status, JSON.stringify(done.json));
  console.log(app.logged.join(""));
});
