import { expect, test } from "bun:test";
import { readmeWithSettings } from "../scripts/readme.ts";

const readme = await Bun.file(`${import.meta.dir}/../README.md`).text();

test("the README's table of settings is that of the code: run bun scripts/readme.ts", async () => {
  expect(readme).toBe(await readmeWithSettings());
});
