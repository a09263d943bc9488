import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { createServer, connect } from "node:net";
import { SMTPServer } from "smtp-server";
import { spoken } from "../../tests/model-server.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";

let app: TestApp;
let remote: Receiver;
const mails: string[] = [];
const mailServer = new SMTPServer({
  logger: false,
  hideSTARTTLS: true,
  allowInsecureAuth: true,
  onAuth: ({ username, password }, _, done) => done(null, { user: `${username} ${password}` }),
  onData(stream, { envelope }, done) {
    stream
      .on("data", () => {})
      .on("end", () => {
        mails.push(envelope.rcptTo.map(({ address }) => address).join());
        done();
      });
  },
});
/** The examples' hosts, here: the mail server, and this test's own PostgreSQL. */
const places = { mail: 0, database: 0, name: "" };
const database = createServer((client) => {
  if ("url" in app.target) throw new Error("tests run on the embedded PostgreSQL");
  const { socketDir, port } = app.target;
  const server = connect(`${socketDir}/.s.PGSQL.${port}`);
  client.pipe(server).pipe(client);
  client.on("error", () => {}).on("close", () => server.destroy());
  server.on("error", () => {}).on("close", () => client.destroy());
});

async function listen(server: { listen(port: number, host: string, ready: () => void): unknown }): Promise<void> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
}

function portOf(server: { address(): unknown }): number {
  const address = server.address();
  return typeof address === "object" && address !== null && "port" in address ? Number(address.port) : 0;
}

beforeAll(async () => {
  app = await startTestApp();
  remote = startReceiver();
  remote.answer = (received) =>
    received.path.endsWith("/chat/completions")
      ? spoken(received, { text: '{"topic":"complaint"}' })
      : Response.json({ main: { temp: 24 } });
  await Promise.all([listen(mailServer), listen(database)]);
  places.mail = portOf(mailServer.server);
  places.database = portOf(database);
  places.name = "url" in app.target ? "" : app.target.database;
  await app.sql`create table customers (id int, name text, city text)`;
  await app.sql`insert into customers values (1, 'Ewa', 'Łódź'), (2, 'Jan', 'Kraków')`;
});
afterAll(async () => {
  await app.stop();
  mailServer.close();
  database.close();
  await remote.stop();
});

const here = (text: string) =>
  text
    .replace("https://api.example.com/v1", remote.url)
    .replace("https://api.openai.com/v1", remote.url)
    .replace("mail.example.com:587", `127.0.0.1:${places.mail}`)
    .replace("reader@db.example.com:5432/shop", `corestead@127.0.0.1:${places.database}/${places.name}`);

test("every example of the built-in prompt works, in its order", async () => {
  const prompt = await app.get("/core/prompt/flows_api.md");
  expect(prompt.status).toBe(200);
  const examples = [...prompt.text.matchAll(/```\n(GET|POST|PUT) (\S+)\n([\s\S]*?)```/g)];
  expect(examples.length).toBeGreaterThanOrEqual(7);
  const answers: Record<string, { status: number; json: unknown }> = {};
  for (const [, method = "", path = "", text = ""] of examples) {
    const body = text.trim() === "" ? undefined : JSON.parse(here(text));
    const answer = await app.request(method, path, body);
    expect(`${path} ${answer.status < 300} ${answer.text}`).toBe(`${path} true ${answer.text}`);
    answers[path] = answer;
  }
  expect(mails).toEqual(["ewa@example.com"]);
  expect(answers["/connect/connectors/shop-db/query"]?.json).toMatchObject({ data: { rows: [{ customers: 1 }] } });
  expect(answers["/connect/flows.json"]?.json).toMatchObject({ warnings: [] });
  const result = { city: "Kraków", temp: 24 };
  expect(answers["/connect/flows/weather-watch/test.json"]?.json).toMatchObject({ status: "finished", data: result });
  const finished = await eventually(async () => {
    const { json } = await app.get("/connect/flow_processes.json?flow_code=weather-watch&status=finished");
    return json.length === 2 && json;
  }, "the runs by hand and by cron");
  expect(finished.map(({ data }: { data: unknown }) => data)).toEqual([result, result]);
  expect(remote.at("/weather/Krak%C3%B3w")).toHaveLength(2);
  expect(remote.at("/reports").map(({ body }) => JSON.parse(body))).toEqual([result, result]);
});
