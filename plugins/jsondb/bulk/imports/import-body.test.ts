import { describe, expect, test } from "bun:test";
import { textOf, createImportPlaces, type BodyLimits } from "./body.ts";

const standard: BodyLimits = {
  maxBytes: 100,
  idleMs: 60_000,
  totalMs: 60_000,
  pace: { minBytesPerSecond: 1, graceMs: 60_000 },
  stopping: new AbortController().signal,
};

/** A body that comes in these pieces; without `isWhole` nothing follows and it does not end. */
function bodyOf(pieces: readonly Uint8Array[], isWhole = true): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const piece = pieces[at++];
      if (piece) controller.enqueue(piece);
      else if (isWhole) controller.close();
      else return new Promise(() => {});
      return undefined;
    },
  });
}

async function read(body: ReadableStream<Uint8Array> | null, limits: Partial<BodyLimits> = {}): Promise<string> {
  let text = "";
  for await (const piece of textOf(body, newPlace(), { ...standard, ...limits })) text += piece;
  return text;
}

const newPlace = () => createImportPlaces().take();

const bytes = (text: string) => new TextEncoder().encode(text);

describe("the body of an import", () => {
  test("is text, wherever its bytes are cut and without a byte order mark", async () => {
    const whole = bytes("\ufeffzażółć 😀");
    for (let at = 0; at <= whole.length; at++)
      expect(await read(bodyOf([whole.slice(0, at), whole.slice(at)]))).toBe("zażółć 😀");
    expect(await read(null)).toBe("");
  });

  test("is refused where it is too large or no UTF-8", async () => {
    expect(read(bodyOf([bytes("x".repeat(60)), bytes("x".repeat(41))]))).rejects.toMatchObject({ status: 413 });
    for (const wrong of [[0xff], [0xc5], [0x61, 0xed, 0xa0, 0x80]])
      expect(read(bodyOf([new Uint8Array(wrong)]))).rejects.toMatchObject({ status: 400 });
  });

  test("is given up where the client is silent, or takes too long in all", async () => {
    expect(read(bodyOf([bytes("a")], false), { idleMs: 5 })).rejects.toMatchObject({ status: 408 });
    expect(read(bodyOf([bytes("a")], false), { totalMs: 5 })).rejects.toMatchObject({ status: 408 });
  });

  test("is given up where it trickles, however long the server takes for what has come", async () => {
    const trickle = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(1);
        controller.enqueue(bytes("a"));
      },
    });
    const slowly = { maxBytes: 1e9, pace: { minBytesPerSecond: 1e6, graceMs: 20 } };
    expect(await read(trickle, slowly).catch((error: unknown) => error)).toMatchObject({ status: 408 });
    let text = "";
    for await (const piece of textOf(bodyOf([bytes("a"), bytes("b"), bytes("c")]), newPlace(), {
      ...standard,
      ...slowly,
    })) {
      await Bun.sleep(30);
      text += piece;
    }
    expect(text).toBe("abc");
  });

  test("is given up when its place goes to another import, and says so", async () => {
    const clock = { ms: 0 };
    const places = createImportPlaces({ most: 1, now: () => clock.ms });
    const reading = Array.fromAsync(textOf(bodyOf([bytes("a")], false), places.take(), standard));
    const ended = reading.catch((error: unknown) => error);
    await Bun.sleep(0); // the second piece is waited for
    clock.ms = 25_000;
    places.take();
    expect(await ended).toMatchObject({
      status: 408,
      body: { error: "the rows arrive too slowly while other imports wait: send them again later" },
    });
  });

  test("is given up when the server stops", async () => {
    const stopping = new AbortController();
    const reading = read(bodyOf([bytes("a")], false), { stopping: stopping.signal });
    stopping.abort();
    expect(reading).rejects.toMatchObject({ status: 503 });
    expect(read(bodyOf([bytes("a")]), { stopping: stopping.signal })).rejects.toMatchObject({ status: 503 });
  });

  test("is refused where the client goes away", async () => {
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("gone")) });
    expect(read(body)).rejects.toMatchObject({ status: 400 });
  });
});
