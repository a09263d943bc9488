import { expect, test } from "bun:test";
import { dayPart, firstName, type HomeNotice, type InboxAsk, type InboxNotice } from "./home.ts";
import { doneIn } from "./attention.ts";
import { beside, letterOf, shown, sorted, warningOf, withDone, type Show } from "./letters.ts";

const mention = (id: string, read: string | null): InboxNotice => ({
  id,
  kind: "mention",
  db_code: "orders",
  record_id: "7",
  text: "hello",
  from_user_id: 2,
  from_user_name: "Ben",
  created_at: "2026-11-28T09:00:00Z",
  read_at: read,
});
const ask = (id: string, status: InboxAsk["status"]): InboxAsk => ({
  id,
  kind: "ask",
  title: "Approve?",
  text: "",
  choices: [{ value: "approve" }],
  fields: {},
  status,
  flow_code: "intake",
  flow_process_id: "p",
  choice: null,
  comment: null,
  answered_by: null,
  expires_at: "2026-12-28T09:00:00Z",
  created_at: "2026-11-28T08:00:00Z",
  read_at: null,
});
const failure: HomeNotice = {
  path: "/connect/flow_processes",
  of: null,
  id: "9",
  name: "intake",
  trouble: "inError",
  at: "2026-11-28T10:00:00Z",
  detail: "no answer",
  count: 2,
};
const ending: HomeNotice = { ...failure, path: "/account/api_tokens", trouble: "endsSoon", at: "2026-12-04T00:00:00Z" };
const now = Date.parse("2026-11-28T12:00:00Z");
const keyOfFailure = warningOf(failure, new Set()).key;
const all = sorted(
  [
    letterOf(mention("a", null)),
    letterOf(mention("b", "2026-11-28T09:30:00Z")),
    letterOf(ask("q", "open")),
    letterOf(ask("r", "answered")),
    warningOf(failure, new Set([keyOfFailure])),
    warningOf(ending, new Set()),
  ],
  now,
);

test.each([
  ["mine", ["/account/api_tokens 9 endsSoon 2026-12-04T00:00:00Z", "a", "q"]],
  ["asks", ["q"]],
  ["mentions", ["a"]],
  ["warnings", ["/account/api_tokens 9 endsSoon 2026-12-04T00:00:00Z"]],
  ["done", [keyOfFailure, "b", "r"]],
] as const)("under %s stand %j", (show: Show, keys) => {
  expect(shown(all, show).map(({ key }) => key)).toEqual([...keys]);
});

test("a flow that fails again and again is a warning until one is done with it, or it fails anew", () => {
  const item = { id: "f", kind: "failure", title: "Intake", flow_code: "intake", count: 3, read_at: null } as const;
  const letter = letterOf({ ...item, created_at: "2026-11-28T10:00:00Z" });
  expect(letter).toMatchObject({ kind: "warning", isDone: false, notice: { path: "/connect/flows", count: 3 } });
  const done = new Set([letter.key]);
  expect(letterOf({ ...item, created_at: "2026-11-28T10:00:00Z" }, done).isDone).toBe(true);
  expect(letterOf({ ...item, created_at: "2026-11-29T10:00:00Z" }, done).isDone).toBe(false);
});

test("a warning that is done comes back when it happens again", () => {
  const done = new Set(doneIn(withDone(undefined, keyOfFailure, true)));
  expect(warningOf(failure, done).isDone).toBe(true);
  expect(warningOf({ ...failure, at: "2026-11-29T10:00:00Z" }, done).isDone).toBe(false);
  expect(doneIn(withDone({ done: [...done] }, keyOfFailure, false))).toEqual([]);
});

test.each([
  [null, 1, 0],
  [0, 1, 1],
  [0, -1, 0],
  [5, 1, 5],
] as const)("from number %j by %d one comes to number %d", (from, by, to) => {
  const key = from === null ? null : (all[from]?.key ?? null);
  expect(beside(all, key, by)?.key).toBe(all[to]?.key);
});

test.each([
  [2, "day"],
  [4, "morning"],
  [13, "day"],
  [19, "evening"],
] as const)("at %i o'clock one greets by the %s", (hour, part) =>
  expect(dayPart(new Date(Date.UTC(2026, 10, 25, hour)), "UTC")).toBe(part),
);

test.each([
  ["Anna Nowak", "Anna"],
  ["anna@tea.test", "Anna"],
  ["admin", "admin"],
])("%s is greeted as %s", (name, first) => expect(firstName(name)).toBe(first));
