import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sealed, sealedChunks, sealedOfSeries, unsealed, unsealedChunks } from "./sealing.ts";

const key = "a key of the tests with 32 characters or more";
const chunk = 64 * 1024;

async function* parts(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const gathered = async (chunks: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(chunks));
const faultOf = (chunks: AsyncIterable<Uint8Array>) =>
  gathered(chunks).then(
    () => "none",
    (error: unknown) => (error instanceof Error ? error.message : ""),
  );
const bytesOf = (length: number) => Buffer.alloc(length, "żółw and others ");

// scrypt for each case would take minutes.
const cipherKey = Buffer.alloc(32, 7);
const header = Buffer.from("header");
const seal = (bytes: Uint8Array) => gathered(sealedChunks(parts(bytes, 10_000), cipherKey, header));
const open = (bytes: Uint8Array, size = 30_000) => unsealedChunks(parts(bytes, size), cipherKey, header);

describe("a sealed backup", () => {
  test.each([0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 5])("of %d bytes is opened", async (length) => {
    const made = await seal(bytesOf(length));
    expect(made.length).toBe(length + 16 * Math.max(1, Math.ceil(length / chunk)));
    expect((await gathered(open(made))).equals(bytesOf(length))).toBe(true);
  });

  test("of which any byte is changed is refused", async () => {
    const made = await seal(bytesOf(2 * chunk + 100));
    const change = fc.record({ at: fc.nat(made.length - 1), by: fc.integer({ min: 1, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(change, async ({ at, by }) => {
        const changed = Buffer.from(made);
        changed[at] = (changed[at] ?? 0) ^ by;
        expect(await faultOf(open(changed))).toContain("changed or cut off");
      }),
    );
  });

  test("that is cut off anywhere, even between two chunks, is refused", async () => {
    const made = await seal(bytesOf(2 * chunk + 100));
    const ends = fc.oneof(fc.nat(made.length - 1), fc.constantFrom(0, 1, 15, 16, chunk + 16, 2 * (chunk + 16)));
    await fc.assert(
      fc.asyncProperty(ends, async (end) => {
        expect(await faultOf(open(made.subarray(0, end)))).toMatch(/changed or cut off|ends too early/);
      }),
    );
  });

  test("whose chunks are swapped, repeated, dropped or followed by others is refused", async () => {
    const size = chunk + 16;
    const made = await seal(bytesOf(3 * chunk));
    const [a, b, c] = [made.subarray(0, size), made.subarray(size, 2 * size), made.subarray(2 * size)];
    for (const order of [
      [b, a, c],
      [a, a, b, c],
      [a, c],
      [a, b],
      [b, c],
      [a, b, c, c],
      [a, b, c, Buffer.of(0)],
    ])
      expect(await faultOf(open(Buffer.concat(order)))).toContain("changed or cut off");
  });

  test("passes on no byte that is not authentic", async () => {
    const made = await seal(bytesOf(2 * chunk));
    made[chunk + 20] = (made[chunk + 20] ?? 0) ^ 1;
    let passed = 0;
    const read = async () => {
      for await (const bytes of open(made)) passed += bytes.length;
    };
    expect(await read().catch(() => "refused")).toBe("refused");
    expect(passed).toBe(chunk);
  });
});

describe("the key", () => {
  test.each([
    ["a backup", sealed, 9],
    ["one of a series", sealedOfSeries, 9 + 32],
  ])("of %s is asked for, and told from a damaged file", async (_, by, ownFrom) => {
    const made = await gathered(by(parts(bytesOf(100), 7), key));
    const again = await gathered(by(parts(bytesOf(100), 7), key));
    expect(made.includes("others")).toBe(false);
    expect(made.subarray(ownFrom).equals(again.subarray(ownFrom))).toBe(false);
    expect((await gathered(unsealed(parts(made, 1), key))).equals(bytesOf(100))).toBe(true);
    expect(await faultOf(unsealed(parts(made, 50), ""))).toContain("set BACKUP_KEY");
    expect(await faultOf(unsealed(parts(made, 50), `${key}!`))).toContain("BACKUP_KEY is not the key");
    expect(await faultOf(unsealed(parts(made.subarray(0, 30), 50), key))).toBe("it ends too early");
    made[8] = 3 - (made[8] ?? 0);
    expect(await faultOf(unsealed(parts(made, 50), key))).toContain("changed or cut off");
    made[8] = 3;
    expect(await faultOf(unsealed(parts(made, 50), key))).toContain("version 3");
  });

  test.each([0, 5, 8, 41, 200])("is not needed for %d bytes that are not sealed", async (length) => {
    expect((await gathered(unsealed(parts(bytesOf(length), 3), ""))).equals(bytesOf(length))).toBe(true);
  });
});
