import { describe, expect, test } from "bun:test";
import { blank, mustBeAllowed } from "./patch.ts";

const action = { action: "hint", flow_code: "hint" };
const app = { ...blank, name: "A", sourceCode: "x", trusted: false };
const withDb = { ...app, dbCode: "menu" };
const withMore = { ...app, fields: { dbs: ["shop"] } };
const withAction = { ...app, actions: [action] };
const trusted = { ...app, trusted: true };

type App = Parameters<typeof mustBeAllowed>[1]["after"] & { readonly trusted: boolean };

/** The write, and the rights that it needs. undefined = there was no app before. */
const cases: [what: string, before: App | undefined, after: App, needs: readonly string[]][] = [
  ["a new app", undefined, app, []],
  ["another name", app, { ...app, name: "B" }, []],
  ["other code without a database", app, { ...app, sourceCode: "y" }, []],
  ["a deletion", app, app, []],
  ["a new app with a database", undefined, withDb, ["mayOpenDatabases"]],
  ["a database for an app", app, withDb, ["mayOpenDatabases"]],
  ["another database", withDb, { ...withDb, dbCode: "shop" }, ["mayOpenDatabases"]],
  ["other code with a database", withDb, { ...withDb, sourceCode: "y" }, ["mayOpenDatabases"]],
  ["another engine with a database", withDb, { ...withDb, appEngine: "vue" }, ["mayOpenDatabases"]],
  ["another name with a database", withDb, { ...withDb, name: "B" }, []],
  ["a further database", withDb, { ...withDb, fields: { dbs: ["shop"] } }, ["mayOpenDatabases"]],
  ["other code with further databases", withMore, { ...withMore, sourceCode: "y" }, ["mayOpenDatabases"]],
  ["no database any more", withDb, app, []],
  ["a new app with an action", undefined, withAction, ["mayNameFlows"]],
  ["another action", withAction, { ...app, actions: [action, { ...action, action: "more" }] }, ["mayNameFlows"]],
  ["another flow", withAction, { ...app, actions: [{ ...action, flow_code: "other" }] }, ["mayNameFlows"]],
  ["a public action", withAction, { ...app, actions: [{ ...action, public: true }] }, ["mayNameFlows"]],
  ["the same actions with other code", withAction, { ...withAction, sourceCode: "y" }, []],
  ["no actions any more", withAction, app, []],
  ["a new trusted app", undefined, trusted, ["mayTrust"]],
  ["trust in an app", app, trusted, ["mayTrust"]],
  ["no trust any more", trusted, app, ["mayTrust"]],
  ["another name of a trusted app", trusted, { ...trusted, name: "B" }, ["mayTrust"]],
  [
    "all at once",
    undefined,
    { ...withDb, ...withAction, dbCode: "menu", trusted: true },
    ["mayTrust", "mayOpenDatabases", "mayNameFlows"],
  ],
];
const all = { mayTrust: true, mayOpenDatabases: true, mayNameFlows: true };
const none = { mayTrust: false, mayOpenDatabases: false, mayNameFlows: false };
const fields: Readonly<Record<string, string>> = {
  mayTrust: "`trusted`",
  mayOpenDatabases: "`db_code`",
  mayNameFlows: "`actions`",
};

describe.each(cases)("%s", (_, before, after, needs) => {
  const write = { before, after, trusted: after.trusted };

  test(`needs ${needs.join(", ") || "nothing more"}`, () => {
    const given = Object.fromEntries(needs.map((right) => [right, true]));
    expect(() => mustBeAllowed({ ...none, ...given }, write)).not.toThrow();
  });

  test.each(Object.keys(all))("without %s it is refused where that is needed, naming the field", (right) => {
    const attempt = () => mustBeAllowed({ ...all, [right]: false }, write);
    if (needs.includes(right)) expect(attempt).toThrow(fields[right] ?? "");
    else expect(attempt).not.toThrow();
  });
});
