/** Parses a declaration file (`.d.ts`) as far as scripts/platform-types.ts needs: its statements and imports. */

/** A name that a declaration uses, from another module or (without `from`) its own. */
export interface Use {
  readonly from?: string;
  readonly name: string;
}

export interface Declarations {
  /** The names that the export or local declaration `name` uses directly; "*" = all exports. */
  follow(name: string): Use[];
  /** Renames every imported module. */
  rename(newName: (specifier: string) => string): void;
  /** The text with only the declarations of these names, for the inside of a `declare module`. */
  print(names: ReadonlySet<string>): string;
}

export interface Statement {
  readonly text: string;
  /** The name that it declares; undefined for imports and re-exports. */
  readonly name?: string;
  readonly exported: boolean;
  /** For imports and re-exports: the names that they bind here, and to what. "*" binds all. */
  readonly bindings: ReadonlyMap<string, Use>;
}

const specifiers = /(\bfrom |\bimport\()(["'])([^"']+)\2/g;
const declaration =
  /^(export )?(?:default )?(?:declare )?(?:abstract )?(?:function|const|let|var|class|interface|type|namespace) ([\w$]+)/;

/**
 * With `cut`, the text was printed by tsc and each statement begins at the left margin. Otherwise the file is kept
 * whole.
 */
export function parseDeclarations(text: string, cut: boolean): Declarations {
  return cut ? inStatements(text) : whole(text);
}

function whole(text: string): Declarations {
  let renamed = text;
  return {
    follow: () => [...text.matchAll(specifiers)].map(([, , , from]) => ({ from: from ?? "", name: "*" })),
    rename(newName) {
      renamed = withSpecifiers(text, newName);
    },
    print: () => ambient(renamed),
  };
}

function inStatements(text: string): Declarations {
  const statements = split(text).map(statementOf);
  let newName = (specifier: string) => specifier;
  const imports = new Map(statements.filter(isImport).flatMap(({ bindings }) => [...bindings]));
  const locals = new Set(statements.flatMap(({ name }) => name ?? []));

  const follow = (name: string): Use[] =>
    statements.flatMap((statement) => {
      if (isImport(statement)) return [];
      if (statement.name === undefined) return reExported(statement, name);
      const wanted = name === "*" ? statement.exported : statement.name === name;
      return wanted ? uses(statement, imports, locals) : [];
    });

  const print = (names: ReadonlySet<string>): string => {
    const kept = statements.filter(
      ({ name, exported }) => name === undefined || names.has(name) || (names.has("*") && exported),
    );
    const words = new Set(kept.filter(({ name }) => name).flatMap(({ text: source }) => wordsOf(source)));
    const lines = kept.flatMap((statement) => {
      if (statement.name === undefined && statement.exported) return reExport(statement, names);
      if (!isImport(statement)) return statement.text;
      const used = [...statement.bindings].filter(([local]) => words.has(local));
      return used.map(([local, use]) => importLine(local, use)).join("\n") || [];
    });
    return ambient(withSpecifiers(lines.join("\n"), newName));
  };
  return {
    follow,
    rename: (rename) => {
      newName = rename;
    },
    print,
  };
}

/** A statement begins at the left margin, and the comment before it belongs to it. */
export function split(text: string): string[] {
  const statements: string[] = [];
  let comment = "";
  for (const block of text.split(/^(?=[a-z]|\/\*\*)/m)) {
    if (!block.startsWith("/**")) {
      statements.push(comment + block);
      comment = "";
    } else if (/\*\/\s*$/.test(block)) comment = block;
    // A comment inside a union is at the left margin too.
    else statements.push(`${statements.pop() ?? ""}${block}`);
  }
  return statements.filter((statement) => statement.trim() !== "");
}

export function statementOf(source: string): Statement {
  const text = source.trimEnd();
  const code = text.replace(/^\/\*\*.*?\*\/\s*/s, "");
  const name = declaration.exec(code)?.[2];
  const bindings = new Map<string, Use>();
  const from = /from ["']([^"']+)["']/.exec(code)?.[1];
  if (name === undefined && from !== undefined) {
    if (/^export \*/.test(code)) bindings.set("*", { from, name: "*" });
    const standard = /^import (?:type )?([\w$]+)(?: from|,)/.exec(code)?.[1];
    if (standard) bindings.set(standard, { from, name: "default" });
    for (const part of /\{([^}]*)\}/.exec(code)?.[1]?.split(",") ?? []) {
      const [original = "", local = original] = part
        .trim()
        .replace(/^type /, "")
        .split(" as ");
      if (original !== "") bindings.set(local, { from, name: original });
    }
  }
  return { text, ...(name !== undefined && { name }), exported: code.startsWith("export"), bindings };
}

function isImport({ exported, name }: Statement): boolean {
  return !exported && name === undefined;
}

function reExported({ bindings }: Statement, name: string): Use[] {
  const all = bindings.get("*");
  if (all) return [name === "*" ? all : { ...all, name }];
  return [...bindings].flatMap(([local, use]) => (name === "*" || name === local ? use : []));
}

function uses({ text, name }: Statement, imports: ReadonlyMap<string, Use>, locals: ReadonlySet<string>): Use[] {
  const words = wordsOf(text).flatMap((word): Use[] => {
    const imported = imports.get(word);
    return imported ? [imported] : locals.has(word) && word !== name ? [{ name: word }] : [];
  });
  const queried = [...text.matchAll(/import\("([^"]+)"\)\.([\w$]+)/g)];
  return [...words, ...queried.map(([, from, member]) => ({ from: from ?? "", name: member ?? "*" }))];
}

/** Includes property names: at worst an unneeded declaration is kept. */
function wordsOf(text: string): string[] {
  return text.replaceAll(/\/\*.*?\*\//gs, "").match(/[A-Za-z_$][\w$]*/g) ?? [];
}

/** The re-export, with only the names that are needed. */
function reExport({ text, bindings }: Statement, names: ReadonlySet<string>): string[] {
  if (names.has("*") || bindings.size === 0 || bindings.has("*")) return [text];
  const used = [...bindings].filter(([local]) => names.has(local));
  const keyword = text.startsWith("export type") ? "export type" : "export";
  return used.map(([local, { from, name }]) => `${keyword} { ${asNamed(name, local)} } from "${from}";`);
}

function asNamed(name: string, local: string): string {
  return name === local ? name : `${name} as ${local}`;
}

function importLine(local: string, { from, name }: Use): string {
  if (name === "default") return `import type ${local} from "${from}";`;
  return `import type { ${asNamed(name, local)} } from "${from}";`;
}

function withSpecifiers(text: string, newName: (specifier: string) => string): string {
  return text.replaceAll(
    specifiers,
    (_all, before: string, _quote, specifier: string) => `${before}"${newName(specifier)}"`,
  );
}

/** Everything inside `declare module` is already declared. */
function ambient(text: string): string {
  return text.replaceAll(/^(export )?declare /gm, "$1");
}
