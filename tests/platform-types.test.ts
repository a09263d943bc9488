/** `platform.d.ts`, which authors of external plugins get from `corestead types`. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { platformPage } from "../scripts/platform-docs.ts";
import { generateTypes } from "../scripts/platform-types.ts";

setDefaultTimeout(600_000);
const root = resolve(import.meta.dir, "..");

test("the types are those of runtime/sdk.ts: run bun scripts/platform-types.ts", async () => {
  const types = await generateTypes();
  expect(await Bun.file(join(root, "runtime/platform-types.txt")).text()).toBe(types);
  const page = await Bun.file(join(root, "docs/platform.md")).text();
  expect(page).toBe(platformPage(types));
  for (const name of ["platform", "platform/flows", "platform/test", "platform/studio"])
    expect(page).toContain(`\n## ${name}\n`);
  for (const name of ["definePlugin", "BaseContext", "setting.integer", "LiquidFilter", "notFound", "RouteSpec"])
    expect(page).toContain(`\n### ${name}\n`);
});

/** The types must find each of these mistakes. */
const sample = `
import { definePlugin, event, field, integerId, job, notFound, ok, on, onEvent, route, service, setting, Type } from "platform";
import type { Sql, Static } from "platform";
import migration from "./001_notes.sql";

const Note = Type.Object({ title: field.name(), stars: Type.Optional(Type.Integer({ minimum: 0 })) });
export const note: Static<typeof Note> = { title: "a" };
// @ts-expect-error a title is text
export const wrongNote: Static<typeof Note> = { title: 4 };

const ping = job<{ id: number }>("notes.ping");
const noted = event<{ title: string }>("notes.noted");
const mailer = service<{ send(to: string): Promise<void> }>("mailer");

async function idsOf(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>\`select id from notes\`;
  // @ts-expect-error there is no such column
  rows[0]?.name;
  return rows.map(({ id }) => id);
}

export default definePlugin({
  name: "notes",
  needs: { mailer },
  config: { most: setting.integer("NOTES_MOST", 10, "how many", { min: 1, max: 99 }) },
  migrations: [{ name: "001_notes", sql: migration }],
  setup(ctx) {
    const most: number = ctx.config.most;
    // @ts-expect-error there is no such setting
    ctx.config.least;
    // @ts-expect-error it was not asked for
    ctx.services.tokens;
    return {
      handlers: [
        on(ping, async ({ id }) => ctx.log.info("ping", { id })),
        onEvent(noted, "notes.mail", async ({ title }) => ctx.services.mailer.send(title)),
      ],
      routes: [
        route("PATCH", "/notes/:id", {
          summary: "Change a note",
          access: { privilege: "notes" },
          body: { key: "note", schema: Type.Partial(Note) },
          responses: { 200: {} },
        }, async ({ params, body, caller }) => {
          const title: string | undefined = body.title;
          const person: number = caller.user.id;
          // @ts-expect-error there is no such field
          body.titel;
          // @ts-expect-error there is no such parameter
          params.note_id;
          // @ts-expect-error an id is missing
          await ctx.enqueue(ping, {});
          const id = integerId(params.id);
          await ctx.transaction(async (tx) => {
            await tx\`update notes set title = \${title ?? ""} where id = \${id}\`;
            await ctx.changed({ accountId: caller.account.id, sourceType: "Notes::Note", kind: "update", id, data: {} }, tx);
          });
          if (person > most) throw notFound();
          return ok(await idsOf(ctx.sql));
        }),
        route("GET", "/notes/count", { summary: "", access: { open: "a test" }, responses: {} }, ({ caller }) => {
          // @ts-expect-error nobody need be signed in
          return ok(caller.user);
        }),
      ],
    };
  },
});`;

const strict = {
  target: "esnext",
  module: "preserve",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  lib: ["esnext", "dom"],
  types: [],
};

test("a plugin is type-checked with that one file and no package beside it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corestead-types-"));
  try {
    await Bun.write(join(folder, "platform.d.ts"), Bun.file(join(root, "runtime/platform-types.txt")));
    await Bun.write(join(folder, "notes/plugin.ts"), sample);
    await Bun.write(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: strict }));
    const tsc = Bun.spawn([join(root, "node_modules/.bin/tsc"), "-p", folder], { stdout: "pipe" });
    expect(await new Response(tsc.stdout).text()).toBe("");
    expect(await tsc.exited).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
