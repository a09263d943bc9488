/**
 * Reads a statement as PostgreSQL does and says which of the distributed tables in it are reached without their
 * distribution column: on a hash-distributed PostgreSQL such a statement asks every node.
 */
import { parse } from "libpg-query";

/** By which column each distributed table is distributed, and the columns of all tables. */
export interface Layout {
  readonly distributed: ReadonlyMap<string, string>;
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
}

type Node = Readonly<Record<string, unknown>>;

/** A table in a FROM clause, or the target of a change. */
interface Source {
  readonly alias: string;
  readonly table: string;
}

/** What the names of a query mean: its own tables. */
interface Scope {
  readonly sources: Source[];
  readonly conditions: Node[];
}

interface Visit {
  readonly layout: Layout;
  readonly named: ReadonlySet<string>;
  readonly problems: string[];
}

/** In words; empty if every distributed table is reached by its column. */
export async function problemsOf(statement: string, layout: Layout): Promise<string[]> {
  const problems: string[] = [];
  visitAll(await parse(statement), { layout, named: new Set(), problems });
  return [...new Set(problems)];
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
const node = (value: unknown): Node => (isNode(value) ? value : {});
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Every query inside, however deep, each in its own scope. */
function visitAll(value: unknown, visit: Visit): void {
  if (Array.isArray(value)) for (const one of value) visitAll(one, visit);
  if (!isNode(value)) return;
  for (const [kind, inner] of Object.entries(value)) {
    if (!isNode(inner)) visitAll(inner, visit);
    else if (kind === "SelectStmt" || kind === "larg" || kind === "rarg") visitQuery(inner, visit);
    else if (kind === "InsertStmt") visitInsert(inner, visit);
    else if (kind === "UpdateStmt" || kind === "DeleteStmt") visitQuery(inner, visit);
    else if (kind === "MergeStmt") visit.problems.push("MERGE is not looked into");
    else visitAll(inner, visit);
  }
}

/** The queries of the WITH clause, whose names hide tables from then on. */
function withNames(query: Node, visit: Visit): Visit {
  const clause = node(query["withClause"]);
  const named = new Set(visit.named);
  const expressions = list(clause["ctes"]).map((one) => node(one["CommonTableExpr"]));
  if (clause["recursive"] === true) for (const one of expressions) named.add(text(one["ctename"]));
  for (const one of expressions) {
    visitAll(one["ctequery"], { ...visit, named: new Set(named) });
    named.add(text(one["ctename"]));
  }
  return { ...visit, named };
}

function visitQuery(query: Node, before: Visit): void {
  const visit = withNames(query, before);
  const scope: Scope = { sources: [], conditions: [...conjuncts(query["whereClause"])] };
  if (isNode(query["relation"])) addTable(query["relation"], scope, visit);
  for (const from of [...list(query["fromClause"]), ...list(query["usingClause"])]) addSource(from, scope, visit);
  for (const { alias, table } of scope.sources) {
    const column = visit.layout.distributed.get(table);
    if (column === undefined) continue;
    const isColumn = (value: unknown) => refersTo(value, { alias, table }, column, scope, visit.layout);
    if (!scope.conditions.some((condition) => binds(condition, isColumn)))
      visit.problems.push(`${table} (as ${alias}) without an equality on ${column}`);
  }
  const { withClause: _, ...rest } = query;
  visitAll(rest, visit);
}

function visitInsert(insert: Node, before: Visit): void {
  const visit = withNames(insert, before);
  const table = text(node(insert["relation"])["relname"]);
  const column = visit.layout.distributed.get(table);
  if (column !== undefined) {
    const names = list(insert["cols"]).map((one) => text(node(one["ResTarget"])["name"]));
    if (!names.includes(column)) visit.problems.push(`insert into ${table} without ${column}`);
    const target = list(node(node(insert["onConflictClause"])["infer"])["indexElems"]).map((one) =>
      text(node(one["IndexElem"])["name"]),
    );
    if (target.length > 0 && !target.includes(column)) visit.problems.push(`on conflict of ${table} without ${column}`);
  }
  const { withClause: _, ...rest } = insert;
  visitAll(rest, visit);
}

function addTable(table: Node, { sources }: Scope, visit: Visit): void {
  const name = text(table["relname"]);
  const isNamed = visit.named.has(name) && table["schemaname"] === undefined;
  const alias = text(node(table["alias"])["aliasname"]) || name;
  sources.push({ alias, table: isNamed ? "" : name });
}

function addSource(from: Node, scope: Scope, visit: Visit): void {
  if (isNode(from["RangeVar"])) addTable(from["RangeVar"], scope, visit);
  const join = node(from["JoinExpr"]);
  for (const side of [join["larg"], join["rarg"]]) if (isNode(side)) addSource(side, scope, visit);
  scope.conditions.push(...conjuncts(join["quals"]));
  for (const column of list(join["usingClause"]))
    scope.conditions.push({ using: text(node(column["String"])["sval"]) });
}

/** The conditions that must all hold. */
function conjuncts(value: unknown): readonly Node[] {
  if (!isNode(value)) return [];
  const all = node(value["BoolExpr"]);
  return all["boolop"] === "AND_EXPR" ? list(all["args"]).flatMap(conjuncts) : [value];
}

/** Whether a condition is an equality on the column: with anything, with a list, or with what a query finds. */
function binds(condition: Node, isColumn: (value: unknown) => boolean): boolean {
  if ("using" in condition) return isColumn(condition);
  const any = node(condition["BoolExpr"]);
  if (any["boolop"] === "OR_EXPR")
    return list(any["args"]).every((one) => conjuncts(one).some((inner) => binds(inner, isColumn)));
  if (any["boolop"] === "AND_EXPR") return conjuncts(condition).some((inner) => binds(inner, isColumn));
  const link = node(condition["SubLink"]);
  if (link["subLinkType"] === "ANY_SUBLINK") return members(link["testexpr"]).some(isColumn);
  const comparison = node(condition["A_Expr"]);
  const operator = list(comparison["name"]).map((one) => text(node(one["String"])["sval"]));
  if (operator.at(-1) !== "=") return false;
  return [comparison["lexpr"], comparison["rexpr"]].flatMap(members).some(isColumn);
}

/** `(a, b)` of a comparison of rows, or the one value. */
function members(value: unknown): readonly Node[] {
  if (!isNode(value)) return [];
  return isNode(value["RowExpr"]) ? list(value["RowExpr"]["args"]) : [value];
}

function refersTo(value: unknown, source: Source, column: string, scope: Scope, layout: Layout): boolean {
  if (node(value)["using"] === column) return true;
  const parts = list(node(node(value)["ColumnRef"])["fields"]).map((one) => text(node(one["String"])["sval"]));
  if (parts.at(-1) !== column) return false;
  if (parts.length > 1) return parts.at(-2) === source.alias;
  // Without an alias: of the first table that has it.
  return scope.sources.find(({ table }) => layout.columns.get(table)?.has(column))?.alias === source.alias;
}
