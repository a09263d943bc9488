/**
 * A program as a tree of steps, and what can be done with one of them. A step's path is what the server calls one
 * without an id: `2.then.0`; a block is the program itself, "", or a branch of a step: `2.then`. Pure.
 */
import { isLongNumber } from "studio/exact";

export type Step = Readonly<Record<string, unknown>>;
/** As somebody has typed it: what is in it may be no step. */
export type Program = readonly unknown[];

const branches = ["then", "else", "do", "catch", "on_error"] as const;
export type Branch = (typeof branches)[number] | `branches[${number}]`;

/** The branches without which a step of this type would be nothing. */
const needed: Readonly<Record<string, readonly string[]>> = { if: ["then"], each: ["do"], try: ["do", "catch"] };

export interface StepPosition {
  readonly block: string;
  readonly at: number;
}

export type Row =
  | { readonly kind: "step"; readonly path: string; readonly depth: number; readonly step: unknown }
  | { readonly kind: "branch"; readonly path: string; readonly depth: number; readonly branch: Branch };

export type Direction = "up" | "down" | "in" | "out";

/** The changed program, and the step's new path. */
export interface ProgramChange {
  readonly program: Program;
  readonly path: string;
}

export function isStep(value: unknown): value is Step {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isLongNumber(value);
}

/** The branches that a step has, and those that it needs. */
export function branchesOf(step: unknown): Branch[] {
  if (!isStep(step)) return [];
  const own = needed[String(step["type"])] ?? [];
  const numbered = beside(step).map((_, at): Branch => `branches[${at}]`);
  return [...numbered, ...branches.filter((branch) => own.includes(branch) || Array.isArray(step[branch]))];
}

/** The steps and their branches, one below the other. */
export function rowsOf(program: Program, block = "", depth = 0): Row[] {
  return program.flatMap((step, at): Row[] => {
    const path = pathOf({ block, at });
    const inside = branchesOf(step).flatMap((branch): Row[] => {
      const inner = `${path}.${branch}`;
      return [
        { kind: "branch", path: inner, depth: depth + 1, branch },
        ...rowsOf(stepsIn(step, branch), inner, depth + 2),
      ];
    });
    return [{ kind: "step", path, depth, step }, ...inside];
  });
}

export function pathOf({ block, at }: StepPosition): string {
  return block === "" ? `${at}` : `${block}.${at}`;
}

export function spotOf(path: string): StepPosition {
  const end = path.lastIndexOf(".");
  return { block: path.slice(0, Math.max(0, end)), at: Number(path.slice(end + 1)) };
}

/** The step whose branch a block is; "" of the program itself. */
export function ownerOf(block: string): string {
  return block.slice(0, Math.max(0, block.lastIndexOf(".")));
}

export function stepAt(program: Program, path: string): unknown {
  const { block, at } = spotOf(path);
  return blockAt(program, block)[at];
}

export function blockAt(program: Program, block: string): Program {
  if (block === "") return program;
  const branch = block.slice(block.lastIndexOf(".") + 1);
  return stepsIn(stepAt(program, ownerOf(block)), branch);
}

export function replaced(program: Program, path: string, step: unknown): Program {
  const { block, at } = spotOf(path);
  return withBlock(program, block, (steps) => steps.with(at, step));
}

/** At a spot that is not there any more, it comes last. */
export function inserted(program: Program, { block, at }: StepPosition, step: unknown): ProgramChange {
  const owner = block === "" ? undefined : stepAt(program, ownerOf(block));
  const isOther = isStep(owner) && owner["type"] === "if" && block.endsWith(".else");
  const isThere = block === "" || isOther || branchesOf(owner).some((one) => block.endsWith(`.${one}`));
  const into = isThere ? block : "";
  const place = Math.min(isThere ? at : program.length, blockAt(program, into).length);
  const changed = withBlock(program, into, (steps) => steps.toSpliced(place, 0, step));
  return { program: changed, path: pathOf({ block: into, at: place }) };
}

export function removed(program: Program, path: string): Program {
  const { block, at } = spotOf(path);
  return withBlock(program, block, (steps) => steps.toSpliced(at, 1));
}

/** Takes a branch away with its steps. */
export function withoutBranch(program: Program, block: string): Program {
  const owner = ownerOf(block);
  const step = stepAt(program, owner);
  if (!isStep(step)) return program;
  const branch = block.slice(owner.length + 1);
  const at = numberOf(branch);
  if (at >= 0) return replaced(program, owner, { ...step, branches: beside(step).toSpliced(at, 1) });
  const { [branch]: _, ...rest } = step;
  return replaced(program, owner, rest);
}

/** One place up or down among the lines, out of the block at its end; into the step before it, or out after its owner. */
export function moved(program: Program, path: string, way: Direction): ProgramChange | undefined {
  const step = stepAt(program, path);
  const to = step === undefined ? undefined : target(program, spotOf(path), way);
  return to && inserted(removed(program, path), to, step);
}

/** Where a step goes, in the program without it. */
function target(program: Program, { block, at }: StepPosition, way: Direction): StepPosition | undefined {
  const owner = ownerOf(block);
  const isNested = block !== "";
  const isLast = at === blockAt(program, block).length - 1;
  if (way === "in") {
    const before = pathOf({ block, at: at - 1 });
    const branch = at > 0 ? branchesOf(stepAt(program, before)).at(-1) : undefined;
    return branch && endOf(program, `${before}.${branch}`);
  }
  if (way === "up" && at > 0) return { block, at: at - 1 };
  if (way === "down" && !isLast) return { block, at: at + 1 };
  if (!isNested) return undefined;
  const after = { ...spotOf(owner), at: spotOf(owner).at + 1 };
  if (way === "out") return after;
  const beside = branchesOf(stepAt(program, owner));
  const here = beside.findIndex((branch) => block.endsWith(`.${branch}`));
  const next = beside[way === "up" ? here - 1 : here + 1];
  if (next === undefined) return way === "up" ? spotOf(owner) : after;
  return way === "up" ? endOf(program, `${owner}.${next}`) : { block: `${owner}.${next}`, at: 0 };
}

function endOf(program: Program, block: string): StepPosition {
  return { block, at: blockAt(program, block).length };
}

/** A copy after the step; ids are unique, so those of the copy are new. */
export function duplicated(program: Program, path: string): ProgramChange | undefined {
  const step = stepAt(program, path);
  if (step === undefined) return undefined;
  const { block, at } = spotOf(path);
  const used = new Set(rowsOf(program).flatMap((row) => (row.kind === "step" ? (idOf(row.step) ?? []) : [])));
  return inserted(program, { block, at: at + 1 }, renewed(step, used));
}

function renewed(step: unknown, used: Set<string>): unknown {
  if (!isStep(step)) return step;
  const id = idOf(step);
  const inside = branchesOf(step).filter((branch) => numberOf(branch) >= 0 || branch in step);
  return inside.reduce<Step>(
    (copy, branch) =>
      withBranch(
        copy,
        branch,
        stepsIn(step, branch).map((one) => renewed(one, used)),
      ),
    id === undefined ? step : { ...step, id: newId(id, used) },
  );
}

function newId(id: string, used: Set<string>): string {
  for (let number = 2; ; number++) {
    const wanted = `${id.slice(0, 58)}-${number}`;
    if (used.has(wanted)) continue;
    used.add(wanted);
    return wanted;
  }
}

/** The name of a step in the list of steps. The `id` of some steps on databases is that of a record. */
export function idOf(step: unknown): string | undefined {
  if (!isStep(step) || typeof step["id"] !== "string" || step["id"] === "") return undefined;
  const isOfRecord = step["type"] === "db" && ["get", "update", "delete"].some((op) => op === step["op"]);
  return isOfRecord ? undefined : step["id"];
}

/** Of `branches[1]` 1, of another branch -1. */
export function numberOf(branch: string): number {
  const [, number = "-1"] = /^branches\[(\d+)\]$/.exec(branch) ?? [];
  return Number(number);
}

const beside = (step: Step): readonly unknown[] => (Array.isArray(step["branches"]) ? step["branches"] : []);

function stepsIn(step: unknown, branch: string): Program {
  const at = numberOf(branch);
  const steps = !isStep(step) ? undefined : at < 0 ? step[branch] : beside(step)[at];
  return Array.isArray(steps) ? steps : [];
}

export function withBranch(step: Step, branch: string, steps: Program): Step {
  const at = numberOf(branch);
  return at < 0 ? { ...step, [branch]: steps } : { ...step, branches: beside(step).toSpliced(at, 1, steps) };
}

function withBlock(program: Program, block: string, change: (steps: Program) => Program): Program {
  if (block === "") return change(program);
  const [first = "", branch = "", ...rest] = block.split(".");
  const step = program[Number(first)];
  if (!isStep(step)) return program;
  const steps = withBlock(stepsIn(step, branch), rest.join("."), change);
  return program.with(Number(first), withBranch(step, branch, steps));
}
