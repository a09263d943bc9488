import { expect, test } from "bun:test";
import { HttpError } from "platform";
import { createStreams } from "./sitemap.ts";

const headers = { "content-type": "text/plain" };

async function* three() {
  yield "one ";
  yield "żółw ";
  yield "three";
}

async function* failing() {
  yield "one";
  throw new Error("the database has gone");
}

test("the parts are sent in their order, with the headers", async () => {
  const answer = createStreams(1, headers)(three());
  expect([await answer.text(), answer.headers.get("content-type")]).toEqual(["one żółw three", "text/plain"]);
});

test("one too many is 503, and changes nothing for the next one", async () => {
  const stream = createStreams(2, headers);
  const open = [stream(three()), stream(three())];
  for (const _ of [1, 2]) expect(() => stream(three())).toThrow(HttpError);
  expect(await open[0]?.text()).toBe("one żółw three");
  expect(await stream(three()).text()).toBe("one żółw three");
  await open[1]?.body?.cancel();
});

test.each([
  ["that is read to its end", three, (answer: Response) => answer.text()],
  ["that fails", failing, (answer: Response) => answer.text().catch(() => "")],
  ["whose reader goes away", three, async (answer: Response) => await answer.body?.cancel()],
  [
    "whose reader goes away in the middle",
    three,
    async (answer: Response) => {
      const reader = answer.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    },
  ],
])("an answer %s makes room for one other", async (_, make, use) => {
  const stream = createStreams(1, headers);
  await use(stream(make()));
  const next = stream(make());
  expect(() => stream(make())).toThrow(HttpError);
  await next.body?.cancel();
});

test("a generator is closed when its reader goes away", async () => {
  let isClosed = false;
  async function* guarded() {
    try {
      yield "one";
      yield "two";
    } finally {
      isClosed = true;
    }
  }
  const reader = createStreams(1, headers)(guarded()).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect(isClosed).toBe(true);
});
