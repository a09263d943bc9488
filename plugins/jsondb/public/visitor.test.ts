import { expect, test } from "bun:test";
import { cookieHeader } from "./visitor.ts";

const visitor = { secret: "s".repeat(43), variables: { ip: "", cookie_key: "", user_id: "", user_name: "" } };

test("the cookie is sent back over https only where the client came by it", () => {
  expect(cookieHeader(visitor, true)["set-cookie"]).toEndWith("; SameSite=Lax; Secure");
  expect(cookieHeader(visitor, false)["set-cookie"]).toEndWith("; SameSite=Lax");
});

test("an app's page is given no cookie", () => {
  expect(cookieHeader({ ...visitor, secret: null }, true)).toEqual({});
});
