import { describe, expect, test } from "bun:test";
import { credentialOf, sessionCookieName } from "./auth.ts";

describe("the session's cookie", () => {
  test.each([
    ["core_session=a", "a"],
    ["x=1; core_session=a; y=2", "a"],
    ["__Host-core_session=b", "b"],
    // What a neighbouring host has planted comes first or last.
    ["core_session=planted; __Host-core_session=b", "b"],
    ["__Host-core_session=b; core_session=planted", "b"],
    ["core_session=a; core_session=a", "a"],
    ["core_session=planted; core_session=a", undefined],
    ["core_session=; x=1", undefined],
    ["other=a", undefined],
  ])("of %p is %p", (cookie, token) => {
    expect(credentialOf(new Headers({ cookie }))?.token).toBe(token);
  });

  test("is bound to its host where that is reached by https", () => {
    expect([sessionCookieName(true), sessionCookieName(false)]).toEqual(["__Host-core_session", "core_session"]);
  });
});
