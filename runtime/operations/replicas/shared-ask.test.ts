import { expect, test } from "bun:test";
import { sharedAsk } from "./progress.ts";

test("those who come while a question is under way share the next one, and none gets an answer from before it came", async () => {
  const asked: PromiseWithResolvers<number>[] = [];
  const ask = sharedAsk(() => {
    const answer = Promise.withResolvers<number>();
    asked.push(answer);
    return answer.promise;
  });
  const turn = () => new Promise((resolve) => void setTimeout(resolve, 0));
  const first = [ask(), ask()];
  await turn();
  const second = [ask(), ask()];
  await turn();
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(1);
  await turn();
  expect(asked).toHaveLength(2);
  const third = ask();
  asked[1]?.reject(new Error("gone"));
  expect(await Promise.all(first)).toEqual([1, 1]);
  expect((await Promise.allSettled(second)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await turn();
  asked[2]?.resolve(3);
  expect(await third).toBe(3);
});
