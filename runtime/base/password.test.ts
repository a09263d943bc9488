import { expect, test } from "bun:test";
import { hashPassword, verifyPassword } from "./secrets.ts";

test("a password is known again by its hash, and another is not", async () => {
  const hash = await hashPassword("zażółć gęślą jaźń");
  expect(hash).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
  expect(await verifyPassword("zażółć gęślą jaźń", hash)).toBe(true);
  expect(await verifyPassword("zażółć gęślą jaźn", hash)).toBe(false);
  expect(await verifyPassword("", hash)).toBe(false);
});

test("two hashes of one password differ", async () => {
  expect(await hashPassword("the same one")).not.toBe(await hashPassword("the same one"));
});

test("nobody's password is wrong, and costs a computation all the same", async () => {
  expect(await verifyPassword("anything", null)).toBe(false);
  expect(await verifyPassword("anything", undefined)).toBe(false);
});

test("a crowd is served in turn, and who comes when too many wait is told to come back", async () => {
  const hash = await hashPassword("the right one");
  const answers = await Promise.allSettled(Array.from({ length: 260 }, () => verifyPassword("the right one", hash)));
  const served = answers.filter((answer) => answer.status === "fulfilled");
  const refused = answers.filter((answer) => answer.status === "rejected");
  expect([served.length, refused.length]).toEqual([202, 58]);
  expect(served.every(({ value }) => value)).toBe(true);
  for (const { reason } of refused) expect(reason).toMatchObject({ status: 503 });
  expect(await verifyPassword("the right one", hash)).toBe(true);
});
