import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";

let app: TestApp;
let remote: Receiver;
beforeAll(async () => {
  app = await startTestApp();
  remote = startReceiver();
  remote.answer = () => Response.json({ main: { temp: 24 } });
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

test("every example of the built-in prompt works, in its order", async () => {
  const prompt = await app.get("/core/prompt/flows_api.md");
  expect(prompt.status).toBe(200);
  const examples = [...prompt.text.matchAll(/```\n(GET|POST) (\S+)\n([\s\S]*?)```/g)];
  expect(examples.length).toBeGreaterThanOrEqual(7);
  const answers: Record<string, { status: number; json: unknown }> = {};
  for (const [, method = "", path = "", text = ""] of examples) {
    const body = text.trim() === "" ? undefined : JSON.parse(text.replace("https://api.example.com/v1", remote.url));
    const answer = await app.request(method, path, body);
    expect(`${path} ${answer.status < 300} ${answer.text}`).toBe(`${path} true ${answer.text}`);
    answers[path] = answer;
  }
  expect(answers["/connect/flows.json"]?.json).toMatchObject({ warnings: [] });
  const result = { city: "Kraków", temp: 24 };
  expect(answers["/connect/flows/weather-watch/test.json"]?.json).toMatchObject({ status: "finished", data: result });
  const finished = await eventually(async () => {
    const { json } = await app.get("/connect/flow_processes.json?flow_code=weather-watch&status=finished");
    return json.length === 2 && json;
  }, "the runs by hand and by cron");
  expect(finished.map(({ data }: { data: unknown }) => data)).toEqual([result, result]);
  expect(remote.at("/weather/Krak%C3%B3w")).toHaveLength(3);
  expect(remote.at("/reports").map(({ body }) => JSON.parse(body))).toEqual([result, result]);
});
