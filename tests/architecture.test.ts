/** architecture 1: imports go one way, SQL and HTTP have their own files, and plugins use only web standards. */
import { describe, expect, test } from "bun:test";
import { dirname, extname, join, relative, resolve } from "node:path";
import { dependencies, version } from "../package.json";
import { mistakeIn } from "./expand.ts";

const root = resolve(import.meta.dir, "..");
/** What `#host` is (package.json, `imports`). */
const hostFile = "runtime/host/bun.ts";

interface Source {
  /** From the root of the repository, as are those of `imports`. */
  readonly path: string;
  /** Without comments and types. */
  readonly code: string;
  readonly imports: readonly string[];
  /** The imported names that are not paths. */
  readonly packages: readonly string[];
}

/** Every module of ours that ships. The apps of a site run in a browser's sandbox, and are data to us. */
const sources: Source[] = [];
for await (const path of new Bun.Glob("{runtime,plugins,sites}/**/*.{ts,tsx,js,mjs}").scan(root)) {
  if (/\.(test|d)\.ts$|^sites\/[^/]+\/apps\//.test(path)) continue;
  sources.push(sourceOf(path, await Bun.file(join(root, path)).text()));
}

function sourceOf(path: string, text: string): Source {
  const transpiler = new Bun.Transpiler({ loader: extname(path).endsWith("x") ? "tsx" : "ts" });
  // scanImports leaves out type imports: an import of a type is a dependency just as well.
  const bare = text.replaceAll(/^\s*(?:\/\*[^]*?\*\/|\/\/.*)/gm, "");
  const typeImports = [...bare.matchAll(/\bfrom "([^"]+)"|\bimport\("([^"]+)"\)/g)].map(([, a, b]) => a ?? b ?? "");
  const names = [...new Set([...transpiler.scanImports(text).map((entry) => entry.path), ...typeImports])];
  const imports = names.map((name) => resolved(path, name));
  return { path, code: transpiler.transformSync(text), imports, packages: names.filter((name) => !isPath(name)) };
}

function isPath(name: string): boolean {
  return name.startsWith(".") || name.startsWith("/") || name === "#host";
}

function resolved(from: string, name: string): string {
  if (name === "#host") return hostFile;
  return isPath(name) ? relative(root, join(root, dirname(from), name)) : name;
}

interface Rule {
  readonly in: RegExp;
  readonly says: string;
  /** The violation, or undefined. */
  readonly wrong: (source: Source) => string | undefined;
  /** Samples that the rule must find: path and text. */
  readonly finds: readonly (readonly [path: string, text: string])[];
}

const isOurs = (name: string) => /^(runtime|plugins|sites|scripts|tests)\//.test(name);
/** Of a plugin; the rooms of accounts are plugins too. */
const isApi = (name: string) => /^plugins\/(?:accounts\/)?[^/]+\/api\.ts$/.test(name);
/** `plugins/apps`, `sites/demo` */
const folderOf = (path: string) => path.split("/", 2).join("/");
const isIn = (folder: string, name: string) => name.startsWith(`${folder}/`);
const first = (pattern: RegExp, { code }: Source) => pattern.exec(code)?.[0];

/** Names of Bun and Node; `process` is also what a flow's process is called, and a text may speak of any of them. */
const serverGlobal =
  /(?<!["'`.])\b(?:Bun\.\w+|process\.(?:env|argv|cwd|exit|on|pid|std\w+)\b|Buffer\.\w+|require\(|import\.meta\.dir\b)/;
/** In its place anything but text and a property. */
const hostGlobal = /(?<!["'`.\w])(?:Bun|Deno)\.\w+/;
/** A tagged template that is a statement, whatever its tag is called. */
const sqlText =
  /\b(?:sql|tx)`|[\w)]`\s*(?:select\s|insert into\s|update \S+ set\s|delete from\s|with (?:recursive )?\w+ as\s|(?:create|alter|drop) (?:table|index)\s)/i;

/** The rooms of the runtime: each imports only from those before it. Operations know the kernel, which knows none. */
const rooms = [
  ["host", "base", "times", "net", "settings", "system", "db", "outbound", "liquid", "scope", "broadcast", "child"],
  ["files", "jobs", "events", "http", "lineage", "plugin", "resource"],
  [
    "dump",
    "s3",
    "postgres",
    "backups",
    "replicas",
    "https",
    "authors",
    "openapi",
    "start",
    "service",
    "upgrade",
    "doctor",
    "command",
  ].map((name) => `operations/${name}`),
  ["sdk.ts"],
].flat();
/** Its place among the rooms; infinite for what is in none. */
function roomOf(path: string): number {
  const at = rooms.findIndex((room) => `${path}/`.startsWith(`runtime/${room}/`));
  return at === -1 ? Infinity : at;
}

/** The rooms of how people sign in: each imports only from those before it. */
const signInRooms = ["studio", "factors", "people", "sessions", "passwords", "oidc", "security"];
const signInRoomOf = (path: string) => signInRooms.indexOf(/^plugins\/accounts\/([^/]+)\//.exec(path)?.[1] ?? "");

/** Top-level functions and constants, by the line with which each begins in code without types. */
function partsOf(code: string): readonly { readonly name: string; readonly text: string }[] {
  const starts = [...code.matchAll(/^(?:export )?(?:async )?(?:function\*?|const|var|let) (\w+)/gm)];
  return starts.map((start, at) => ({ name: start[1] ?? "", text: code.slice(start.index, starts[at + 1]?.index) }));
}

/** What narrows a statement about records to those that are open (plugins/jsondb/access/reach-store.ts). */
const narrows =
  /\b(?:inScope|inTable|ofRecord|matching|whereOf|recordsPage|conditions|openConditions)\(|\bfound\.|request, key|unnest\(\$\{given/;
/** Statements about records that take none, and why. */
const unnarrowed: Readonly<Record<string, string>> = {
  freeStale: "whether a value is taken is told by every unique field, also of records that are hidden",
  // Asked by writes.ts beforehand, in the same transaction, for whoever may not write all.
  hasVersion: "of a record that is held",
  insert: "checked after it is stored",
  update: "the record is held and open",
  rewrite: "the record is held and open",
  remove: "the record is held and open",
  textsOf: "changes of whoever may edit all",
  held: "part of such a change",
  getText: "for whoever may read all",
  newLinks: "targets that are not open whole are asked for beforehand",
  readHeld: "of a record that a program holds",
  store: "checked after it is stored",
  recentIds: "in which order databases are looked at",
  // Tells no person of any record.
  sizeOf: "a count for the plan of a search",
  anyLongString: "a fact for the plan of a search",
  countedRecords: "a count for the plan of a search",
};

const rules: readonly Rule[] = [
  {
    in: /^plugins\/jsondb\/(?!indexes|databases|live|tasks)/,
    says: "a statement about records takes what `access` lets the caller reach",
    wrong: ({ code }) =>
      partsOf(code).find(
        ({ name, text }) =>
          /\b(?:from|join|into|update) records r?\b/.test(text) &&
          !narrows.test(text) &&
          !Object.hasOwn(unnarrowed, name),
      )?.name,
    finds: [
      [
        "plugins/jsondb/search/a.ts",
        "export function leaky(on, db) { return on`select r.data from records r where r.db_id = ${db.id}`; }",
      ],
    ],
  },
  {
    in: /^runtime\//,
    says: "the rooms of the runtime import one way, and each file is in a room",
    wrong: ({ path, imports }) =>
      roomOf(path) === Infinity
        ? path
        : imports.find((name) => /^runtime\/.*\.ts$/.test(name) && roomOf(name) > roomOf(path)),
    finds: [
      ["runtime/base/a.ts", `import type { Log } from "../system/log.ts";`],
      ["runtime/http/a.ts", `import { a } from "../operations/backups/a.ts"; a();`],
      ["runtime/operations/start/a.ts", `import { a } from "../command/a.ts"; a();`],
      ["runtime/helpers.ts", `export const a = 1;`],
      ["runtime/newcomer/a.ts", `export const a = 1;`],
    ],
  },
  {
    in: /^runtime\//,
    says: "the runtime imports nothing of ours: the entry stands beside the list of plugins",
    wrong: ({ imports }) => imports.find((name) => isOurs(name) && !isIn("runtime", name)),
    finds: [
      ["runtime/a.ts", `import { a } from "../plugins/apps/api.ts"; a();`],
      ["runtime/a.ts", `import type { A } from "../plugins/apps/api.ts";`],
    ],
  },
  {
    in: /^(plugins|sites)\/[^/]+\//,
    says: "a plugin or site imports platform, its own files and other plugins' api.ts",
    wrong: ({ path, imports }) =>
      imports.find((name) => isOurs(name) && !isIn(folderOf(path), name) && !(isApi(name) && path !== name)),
    finds: [
      ["plugins/a/render/b.ts", `import { c } from "../../other/store.ts"; c();`],
      ["plugins/a/b.ts", `import type { C } from "../../runtime/db.ts";`],
      ["plugins/a/b.ts", `const c = () => import("../other/render/api.ts"); c();`],
      ["plugins/a/b.ts", `import { host } from "#host"; host.uuidv7();`],
      ["sites/demo/plugin.ts", `import { c } from "../../plugins/apps/store.ts"; c();`],
    ],
  },
  {
    in: /^plugins\/accounts\/[^/]+\//,
    says: "the rooms of accounts import one way, and each file is in a room",
    wrong: ({ path, imports }) =>
      signInRoomOf(path) === -1 ? path : imports.find((name) => signInRoomOf(name) > signInRoomOf(path)),
    finds: [
      ["plugins/accounts/people/a.ts", `import type { A } from "../passwords/api.ts";`],
      ["plugins/accounts/sessions/a.ts", `import { a } from "../oidc/sign-out.ts"; a();`],
      ["plugins/accounts/newcomer/a.ts", `export const a = 1;`],
    ],
  },
  {
    in: /^(plugins|sites|runtime)\//,
    says: "what ships imports only packages that ship with it",
    wrong: ({ packages }) =>
      packages.find((name) => {
        const packageName = /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? "";
        return (
          !/^(platform|platform\/studio|studio|studio\/(?:exact|page|when)|studio:pages|bun|(bun|node):.*)$/.test(
            name,
          ) && !Object.hasOwn(dependencies, packageName)
        );
      }),
    finds: [
      ["plugins/a/b.ts", `import fc from "fast-check"; fc();`],
      ["plugins/a/b.ts", `import { x } from "@types/bun/x"; x();`],
    ],
  },
  {
    in: /^(plugins|sites)\/[^/]+\//,
    says: "a plugin uses web standards only, so that it would run elsewhere too",
    wrong: (source) => source.imports.find((name) => /^(bun|node)(:|$)/.test(name)) ?? first(serverGlobal, source),
    finds: [
      ["plugins/a/render/b.ts", `import { join } from "node:path"; join();`],
      ["plugins/a/b.ts", `import { $ } from "bun"; $;`],
      ["plugins/a/b.ts", `export const key = process.env.KEY;`],
      ["sites/demo/b.ts", `Bun.write("a", "b");`],
    ],
  },
  {
    // The tools for authors of plugins are made of Bun's bundler and its test runner.
    in: /^(?!runtime\/host\/|runtime\/operations\/authors\/(pack|run-tests|test-(?:app|receiver))\.ts$)/,
    says: "only runtime/host names what runs us: Bun or Deno",
    wrong: (source) => source.packages.find((name) => /^bun(:|$)/.test(name)) ?? first(hostGlobal, source),
    finds: [
      ["runtime/a.ts", `import { Database } from "bun:sqlite"; Database;`],
      ["runtime/a.ts", `await Bun.sleep(1);`],
      ["runtime/operations/start/serve.ts", `export const stop = () => Deno.exit(1);`],
      ["plugins/main.ts", `Bun.serve({ fetch });`],
    ],
  },
  {
    in: /^plugins\/[^/]+\/client\//,
    says: "a plugin's client folder is for browsers, which have nothing of the server",
    wrong: ({ path, imports }) => imports.find((name) => !isIn(`${folderOf(path)}/client`, name)),
    finds: [
      ["plugins/a/client/main.ts", `import { sha256 } from "platform"; sha256("");`],
      ["plugins/a/client/main.ts", `import { toApi } from "../store.ts"; toApi();`],
    ],
  },
  {
    in: /^sites\/studio\/app\//,
    says: "the Studio's app is for browsers, and asks the server by HTTP alone",
    wrong: ({ imports }) =>
      imports.find((name) => name === "platform" || (isOurs(name) && !isIn("sites/studio/app", name))),
    finds: [
      ["sites/studio/app/api.ts", `import { sha256 } from "platform"; sha256("");`],
      ["sites/studio/app/api.ts", `import { loadFiles } from "../files.ts"; loadFiles();`],
    ],
  },
  {
    in: /^(plugins|sites)\/(?!(.*[/-])?store\.ts$)/,
    says: "SQL stands in store files alone",
    wrong: (source) => first(sqlText, source) ?? first(/\.unsafe\(/, source),
    finds: [
      ["plugins/a/render/find.ts", `const rows = await db<Row[]>\`select id from a\`;`],
      ["plugins/a/restore.ts", `await tx\`update a set b = 1\`;`],
      ["plugins/a/b.ts", `await ctx.sql.unsafe(text);`],
    ],
  },
  {
    // Two lists of articles are none: groups of codes and names, and what the template of a page asks for.
    in: /^plugins\/(?!cms-multilang\/(care\/texts|render\/templates\/article-list)-store\.ts$).*store\.ts$/,
    says: "a page of a list is bounded in bytes",
    wrong: (source) =>
      /\b(inParts|inOnePart|bytesBefore)\b/.test(source.code)
        ? undefined
        : first(/offset \$\{(\w+\.)?offset\}/, source),
    finds: [["plugins/a/store.ts", "const rows = await sql`select a from b limit ${limit} offset ${offset}`;"]],
  },
  {
    in: /^(plugins|sites)\/(?!(.*[/-])?routes\.ts$)/,
    says: "routes stand in route files alone",
    wrong: (source) => first(/import\s*\{[^}]*\broute\b[^}]*\}\s*from\s*"platform"/, source),
    finds: [["plugins/a/render/page.ts", `import { ok, route } from "platform"; route("GET", "/a", {}, () => ok(1));`]],
  },
];

/** Names of files that import each other in a circle, or undefined. Imports of types count. */
function circleIn(files: readonly Pick<Source, "path" | "imports">[]): string[] | undefined {
  const known = new Map(files.map(({ path, imports }) => [path, imports]));
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const next of known.get(path) ?? []) {
      const circle = visit(next, [...way, path]);
      if (circle) return circle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of known.keys()) {
    const circle = visit(path, []);
    if (circle) return circle;
  }
  return undefined;
}

describe("the structure", () => {
  test("no files import each other in a circle, not even for a type", () => {
    const ring = [
      ["plugins/a/b.ts", `import { c } from "./c.ts"; c();`],
      ["plugins/a/c.ts", `import { d } from "./d.ts"; d();`],
      ["plugins/a/d.ts", `import type { B } from "./b.ts";`],
    ].map(([path = "", text = ""]) => sourceOf(path, text));
    expect(circleIn(ring)).toEqual(["plugins/a/b.ts", "plugins/a/c.ts", "plugins/a/d.ts", "plugins/a/b.ts"]);
    expect(circleIn(ring.slice(0, 2))).toBeUndefined();
    expect(circleIn(sources)).toBeUndefined();
  });

  test("there are sources to look at", () => {
    for (const folder of ["runtime/", "plugins/", "sites/"])
      expect(sources.filter(({ path }) => path.startsWith(folder)).length).toBeGreaterThan(2);
  });

  test.each(rules)("$says", ({ in: place, wrong, finds }) => {
    for (const [path, text] of finds) {
      const sample = sourceOf(path, text);
      expect([path, place.test(path) && wrong(sample) !== undefined]).toEqual([path, true]);
    }
    const found = sources.filter(({ path }) => place.test(path)).map((source) => [source.path, wrong(source)]);
    expect(found.filter(([, what]) => what !== undefined)).toEqual([]);
  });

  test("a plugin has a declaration, a README and a test", async () => {
    const folders = new Set(sources.flatMap(({ path }) => /^plugins\/[^/]+(?=\/)/.exec(path)?.[0] ?? []));
    const missing: string[] = [];
    for (const folder of folders) {
      for (const file of ["plugin.ts", "README.md"]) {
        if (!(await Bun.file(join(root, folder, file)).exists())) missing.push(`${folder}/${file}`);
      }
      const tests = [...new Bun.Glob(`${folder}/**/*.test.ts`).scanSync(root)];
      if (tests.length === 0) missing.push(`${folder}/*.test.ts`);
    }
    expect(missing).toEqual([]);
  });
});

describe("a migration", () => {
  test.each([
    ["alter table a add column b int, add column c text not null default '';", undefined],
    ["create table a (b int not null); -- drop table c", undefined],
    ["alter table a drop constraint a_check;", undefined],
    ["alter table a add column b int not null;", "the old version leaves it out"],
    ["alter table a add column b int not null, add column c int default 1;", "the old version leaves it out"],
    ["alter table a\n  drop column b;", "the old version still reads it"],
    ["drop table a;", "the old version still reads it"],
    ["alter table a rename b to c;", "the old name"],
    ["alter table a alter column b type bigint;", "the old type"],
    ["alter table a alter b set not null;", "the old version may leave it out"],
    ["alter table a add constraint c check (b > 0);", "may write what it refuses"],
    ["alter table a drop constraint c, add foreign key (b) references d;", "may write what it refuses"],
    ["create unique index on a (b);", "may write what it refuses"],
    ["create unique index if not exists a_b on a (b) where c;", "may write what it refuses"],
    ["create table a (b int);\ncreate unique index on a (b);", undefined],
    ["alter table a add column b int;\ncreate unique index a_b on a (c, b);", undefined],
    ["alter table a add column b int check (b > 0), add primary key (c, b);", undefined],
    ["-- contract after 0.2.0: the column b\nalter table a drop column b;", undefined],
    ["-- contract after 0.2.9: the column b\nalter table a drop column b;", undefined],
    ["-- contract after 0.3.0: the column b\nalter table a drop column b;", "is not out yet"],
    ["-- contract after 0.10.0: the column b\nalter table a drop column b;", "is not out yet"],
    ["-- contract after 0.2.0: nothing\nalter table a add column b int;", "takes nothing away"],
  ])("%j", (sql, says) => {
    const mistake = mistakeIn(sql, "0.3.0");
    if (says === undefined) expect(mistake).toBeUndefined();
    else expect(mistake).toContain(says);
  });

  test("takes away only what the release before no longer used", async () => {
    const found: [string, string | undefined][] = [];
    for await (const path of new Bun.Glob("{runtime,plugins}/**/*.sql").scan(root))
      found.push([path, mistakeIn(await Bun.file(join(root, path)).text(), version)]);
    expect(found.length).toBeGreaterThan(50);
    const mistaken = found.flatMap(([path, mistake]) => (mistake ? [path] : [])).toSorted();
    expect(mistaken).toEqual(beforeFirstRelease);
  });
});

/** Nobody had an older version beside them; those of the keys put a wider one in the place of each. */
const beforeFirstRelease = [
  "plugins/accounts/factors/migrations/003_account_keys.sql",
  "plugins/accounts/oidc/migrations/002_account_keys.sql",
  "plugins/accounts/passwords/migrations/002_account_keys.sql",
  "plugins/accounts/sessions/migrations/005_account_keys.sql",
  "plugins/apps/migrations/002_runs.sql",
  "plugins/apps/migrations/003_account_keys.sql",
  "plugins/cms-multilang/migrations/002_domain_status.sql",
  "plugins/cms-multilang/migrations/004_redirect_rules.sql",
  "plugins/cms-multilang/migrations/005_field_times.sql",
  "plugins/cms-multilang/migrations/006_account_keys.sql",
  "plugins/jsondb/migrations/005_bulk_changes.sql",
  "plugins/jsondb/migrations/008_finished_imports.sql",
  "plugins/jsondb/migrations/010_account_keys.sql",
  "plugins/jsondb/migrations/014_text_size.sql",
  "plugins/prompts/migrations/002_account_keys.sql",
  "plugins/tokens/migrations/003_invitations.sql",
  "plugins/webhooks/migrations/003_rates.sql",
  "plugins/webhooks/migrations/006_account_keys.sql",
];
