import { expect, test } from "bun:test";
import { languageOf } from "./language.ts";

test.each([
  [undefined, undefined, "en"],
  ["", undefined, "en"],
  ["pl", undefined, "pl"],
  ["de-AT,de;q=0.9,en;q=0.8", undefined, "de"],
  ["DE-de", undefined, "de"],
  ["fr, pl;q=0.2, de;q=0.7", undefined, "de"],
  ["pl;q=0, de;q=0.1", undefined, "de"],
  ["pl;q=x, de", undefined, "de"],
  ["fr,*", undefined, "en"],
  ["pl", "core_language=de", "de"],
  ["pl", "core_language=fr", "pl"],
  ["pl", `core_language="><script>`, "pl"],
  [",".repeat(5000), undefined, "en"],
] as const)("Accept-Language %p with the cookie %p is %s", (accepted, cookie, language) => {
  const headers = { ...(accepted !== undefined && { "accept-language": accepted }), ...(cookie && { cookie }) };
  expect(languageOf({ headers: new Headers(headers) })).toBe(language);
});
