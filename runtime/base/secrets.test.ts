import { afterAll, expect, test } from "bun:test";
import * as fc from "fast-check";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecrets, loadSecretKey, randomToken, SecretFault } from "./secrets.ts";

const secrets = createSecrets("0123456789abcdef0123456789abcdef");
const other = createSecrets("another key of a good length, too");
const folder = mkdtempSync(join(tmpdir(), "secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = fc.string({ unit: "grapheme" });

test("what is sealed opens in the same place only, and never twice alike", () => {
  fc.assert(
    fc.property(text, text, text, (plain, context, elsewhere) => {
      const sealed = secrets.seal(plain, context);
      expect(secrets.open(sealed, context)).toBe(plain);
      expect(secrets.seal(plain, context)).not.toBe(sealed);
      expect(sealed).toStartWith("v1.");
      expect(() => other.open(sealed, context)).toThrow(SecretFault);
      if (elsewhere !== context) expect(() => secrets.open(sealed, elsewhere)).toThrow(SecretFault);
    }),
  );
});

test("a sealed text with any bit changed does not open", () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.integer({ min: 1, max: 255 }), (plain, at, change) => {
      const bytes = Buffer.from(secrets.seal(plain, "here").slice(3), "base64url");
      const index = at % bytes.length;
      bytes[index] = (bytes[index] ?? 0) ^ change;
      expect(() => secrets.open(`v1.${bytes.toString("base64url")}`, "here")).toThrow(SecretFault);
    }),
  );
});

test.each(["", "v1.", "v1.AAAA", "v2.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "plain text", "v1.%%%"])(
  "%p is refused as a sealed text",
  (sealed) => expect(() => secrets.open(sealed, "here")).toThrow(SecretFault),
);

test("any text at all in place of a sealed one gives a SecretFault and nothing else", () => {
  fc.assert(
    fc.property(fc.string(), (junk) => {
      expect(() => secrets.open(`v1.${junk}`, "here")).toThrow(SecretFault);
    }),
  );
});

test("a signature holds for its payload, purpose and key alone", () => {
  fc.assert(
    fc.property(text, text, text, (purpose, payload, changed) => {
      const signed = secrets.sign(purpose, payload);
      expect(secrets.verify(purpose, signed)).toBe(payload);
      expect(secrets.verify(`${purpose}!`, signed)).toBeUndefined();
      expect(other.verify(purpose, signed)).toBeUndefined();
      expect(secrets.verify(purpose, `${changed}${signed}`)).toBe(changed === "" ? payload : undefined);
      expect(secrets.verify(purpose, changed)).toBeUndefined();
    }),
  );
});

test("purpose and payload do not run into each other", () => {
  const signature = secrets.sign("a", "bc").split(".")[1];
  expect(secrets.verify("ab", `c.${signature}`)).toBeUndefined();
  expect(secrets.derive("a", "bc")).not.toBe(secrets.derive("ab", "c"));
});

test("derive is stable, keyed and differs by purpose", () => {
  expect(secrets.derive("session", "x")).toBe(secrets.derive("session", "x"));
  expect(secrets.derive("session", "x")).not.toBe(secrets.derive("reset", "x"));
  expect(secrets.derive("session", "x")).not.toBe(other.derive("session", "x"));
  expect(secrets.derive("session", "x")).toMatch(/^[\w-]{43}$/);
});

test("random tokens are URL-safe and differ", () => {
  const tokens = new Set(Array.from({ length: 1000 }, () => randomToken(32)));
  expect(tokens.size).toBe(1000);
  for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
});

test("a short key is refused by name", () => {
  expect(() => createSecrets("short")).toThrow("SECRET_KEY needs at least 16 characters");
  expect(() => loadSecretKey(folder, "short")).toThrow("SECRET_KEY needs at least 16 characters");
});

test("the key of the environment wins and writes no file", () => {
  const dir = join(folder, "env");
  expect(loadSecretKey(dir, "sixteen characters")).toBe("sixteen characters");
  expect(() => statSync(dir)).toThrow();
});

test("an absent key is made once, for its owner alone, and read again", () => {
  const dir = join(folder, "made", "deep");
  const key = loadSecretKey(dir, undefined);
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(loadSecretKey(dir, "")).toBe(key);
  expect(statSync(join(dir, "secret.key")).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(["secret.key"]);
});

test("a key file cut short is refused, not replaced", () => {
  const dir = mkdtempSync(join(folder, "cut-"));
  writeFileSync(join(dir, "secret.key"), "abc\n");
  expect(() => loadSecretKey(dir, undefined)).toThrow("secret.key needs at least 16 characters");
  expect(readFileSync(join(dir, "secret.key"), "utf8")).toBe("abc\n");
  rmSync(join(dir, "secret.key"));
  mkdirSync(join(dir, "secret.key"));
  expect(() => loadSecretKey(dir, undefined)).toThrow("secret.key is a folder, and must be a file: move it away");
});

test("processes that start at once agree on one key", async () => {
  const dir = mkdtempSync(join(folder, "race-"));
  const script = `import { loadSecretKey } from ${JSON.stringify(join(import.meta.dir, "secrets.ts"))};
    console.log(loadSecretKey(${JSON.stringify(dir)}, undefined));`;
  const children = Array.from({ length: 8 }, () => Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" }));
  const keys = await Promise.all(children.map((child) => new Response(child.stdout).text()));
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]?.trim()).toBe(readFileSync(join(dir, "secret.key"), "utf8").trim());
  expect(readdirSync(dir)).toEqual(["secret.key"]);
});
