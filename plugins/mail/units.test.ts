import { describe, expect, test } from "bun:test";
import { standardOf } from "./outgoing.ts";
import { redacted, secondsUntilRetry } from "./queue.ts";

test("waits longer after each failed attempt, for about a day", () => {
  const waits = Array.from({ length: 9 }, (_, failed) => secondsUntilRetry(failed + 1));
  expect(waits).toEqual([30, 120, 600, 1800, 3600, 10_800, 21_600, 43_200, undefined]);
});

describe("the server of SMTP_URL", () => {
  const given = { url: "", from: "", replyTo: "", tls: "" } as const;

  test("is none without settings, and may carry a user and a password", () => {
    expect(standardOf(given)).toBeUndefined();
    const url = "smtps://office%40example.com:p%3Aw%2F@mail.example.com:4650";
    expect(standardOf({ ...given, url, from: "Office <office@example.com>", tls: "required" })).toEqual({
      url: "smtps://mail.example.com:4650",
      user: "office@example.com",
      password: "p:w/",
      from: "Office <office@example.com>",
      replyTo: null,
      tls: "required",
    });
  });

  test.each([
    [{ url: "smtp://mail.example.com" }, "SMTP_URL needs MAIL_FROM"],
    [{ from: "a@example.com" }, "MAIL_FROM needs SMTP_URL"],
    [{ url: "mail.example.com", from: "a@example.com" }, "SMTP_URL must be smtp://"],
    [{ url: "smtp://user@mail.example.com", from: "a@example.com" }, "SMTP_URL must have a user and a password"],
    [{ url: "smtp://u:%zz@mail.example.com", from: "a@example.com" }, "SMTP_URL must have the user"],
    [{ url: "smtp://mail.example.com", from: "nobody" }, "MAIL_FROM must be a mail address"],
    [{ url: "smtp://mail.example.com", from: "a@example.com", replyTo: "b" }, "MAIL_REPLY_TO must be a mail address"],
    [{ url: "smtps://mail.example.com", from: "a@example.com", tls: "none" as const }, "SMTP_TLS cannot be none"],
  ])("%j stops the start: %s", (settings, message) => {
    expect(() => standardOf({ ...given, ...settings })).toThrow(message);
  });
});

test.each([
  ["554 blocked https://core.example.com/x?token=abc for you", "554 blocked [hidden] for you"],
  ["554 see token=abc", "554 see [hidden]"],
  ["554 id 0123456789abcdefghijklmn", "554 id [hidden]"],
  ["550 Ewa Nowakowska is unknown", "550 [hidden] is unknown"],
  ["550 no such mailbox", "550 no such mailbox"],
])("what a mail server says is logged without keys: %s", (said, log) => {
  expect(redacted(said, { name: "Ewa Nowakowska", days: "7" })).toBe(log);
});
