import { describe, expect, test } from "bun:test";
import { noticesOf } from "./attention.ts";

const now = Date.parse("2026-06-01T00:00:00Z");
const at = (days: number) => new Date(now + days * 86_400_000).toISOString();

describe("what needs attention", () => {
  test.each([
    [
      "/account/webhooks",
      { id: 1, url: "https://a.test", active: true, failing_since: at(-1), disabled_reason: null },
      "failing",
    ],
    [
      "/account/webhooks",
      { id: 1, url: "https://a.test", active: false, failing_since: at(-1), disabled_reason: "410" },
      "switchedOff",
    ],
    [
      "/account/webhooks",
      { id: 1, url: "https://a.test", active: false, failing_since: at(-1), disabled_reason: null },
      undefined,
    ],
    [
      "/account/webhooks",
      { id: 1, url: "https://a.test", active: true, failing_since: null, disabled_reason: null },
      undefined,
    ],
    [
      "/connect/flow_processes",
      { id: "p", flow_code: "f", status: "error", error: "x", finished_at: at(-1) },
      "inError",
    ],
    ["/connect/flow_processes", { id: "p", flow_code: "f", status: "finished", error: null }, undefined],
    ["/core/tasks", { id: "t", db_code: "d", db_name: "D", error: "x", finished_at: at(-1) }, "notImported"],
    ["/account/crons", { id: 2, name: "c", active: true, last_error: "no flow" }, "missed"],
    ["/account/crons", { id: 2, name: "c", active: false, last_error: "no flow" }, undefined],
    ["/account/crons", { id: 2, name: "c", active: true, last_error: null }, undefined],
    ["/account/api_tokens", { id: 3, name: "t", active: true, expires_at: at(13) }, "endsSoon"],
    ["/account/api_tokens", { id: 3, name: "t", active: true, expires_at: at(15) }, undefined],
    ["/account/api_tokens", { id: 3, name: "t", active: true, expires_at: at(-1) }, "ended"],
    ["/account/api_tokens", { id: 3, name: "t", active: true, expires_at: at(-15) }, undefined],
    ["/account/api_tokens", { id: 3, name: "t", active: false, expires_at: at(1) }, undefined],
    ["/account/api_tokens", { id: 3, name: "t", active: true, expires_at: at(1), kind: "web_token" }, undefined],
    ["/account/api_tokens", { id: 3, name: "t", active: true, expires_at: null }, undefined],
    ["/cms/domains", { id: 4, name: "a.test", status: "pending" }, "pending"],
    ["/cms/domains", { id: 4, name: "a.test", status: "approved" }, undefined],
    ["/other", { id: 5 }, undefined],
  ])("of %s, %j: %s", (path, row, trouble) => {
    expect(noticesOf(path, [row], now).map((notice) => notice.trouble)).toEqual(
      trouble === undefined ? [] : [trouble as never],
    );
  });

  test("is one line for what fails in the same way again and again", () => {
    const failed = (id: string, flow: string, error: string) => ({ id, flow_code: flow, status: "error", error });
    const rows = [failed("1", "f", "x"), failed("2", "f", "y"), failed("3", "f", "x"), failed("4", "g", "x")];
    const found = noticesOf("/connect/flow_processes", rows, now);
    expect(found.map(({ id, count }) => [id, count])).toEqual([
      ["1", 2],
      ["2", 1],
      ["4", 1],
    ]);
  });

  test("is named by what a person knows it by, and bounded", () => {
    const rows = Array.from({ length: 9 }, (_, n) => ({
      id: n,
      url: `https://${n}.test`,
      active: true,
      failing_since: at(-1),
    }));
    const notices = noticesOf("/account/webhooks", rows, now);
    expect(notices).toHaveLength(5);
    expect(notices[0]).toEqual({
      path: "/account/webhooks",
      of: undefined,
      id: "0",
      name: "https://0.test",
      trouble: "failing",
      at: at(-1),
      detail: "",
      count: 1,
    });
    for (const wrong of [null, "x", [null, 3, "x"]]) expect(noticesOf("/account/webhooks", wrong, now)).toEqual([]);
  });
});
