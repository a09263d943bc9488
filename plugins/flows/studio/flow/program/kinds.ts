/**
 * The kinds of steps, each declared once: its group and picture, what a new one begins with, the fields of its panel and
 * its sentence. The picker, the card and the panel follow from that. Pure.
 */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import bot from "lucide-static/icons/bot.svg";
import box from "lucide-static/icons/box.svg";
import columns from "lucide-static/icons/columns-2.svg";
import braces from "lucide-static/icons/braces.svg";
import cornerLeftDown from "lucide-static/icons/corner-left-down.svg";
import eye from "lucide-static/icons/eye.svg";
import hand from "lucide-static/icons/hand.svg";
import globe from "lucide-static/icons/globe.svg";
import hourglass from "lucide-static/icons/hourglass.svg";
import mail from "lucide-static/icons/mail.svg";
import octagonX from "lucide-static/icons/octagon-x.svg";
import pencil from "lucide-static/icons/pencil.svg";
import plug from "lucide-static/icons/plug-zap.svg";
import plus from "lucide-static/icons/plus.svg";
import repeat from "lucide-static/icons/repeat.svg";
import search from "lucide-static/icons/search.svg";
import shield from "lucide-static/icons/shield-alert.svg";
import split from "lucide-static/icons/split.svg";
import timer from "lucide-static/icons/timer.svg";
import trash from "lucide-static/icons/trash-2.svg";
import variable from "lucide-static/icons/variable.svg";
import workflow from "lucide-static/icons/workflow.svg";
import { isCall, isOf, type StepField, type StepKind } from "./kind.ts";
import { isStep } from "./tree.ts";

const result: StepField = { key: "as", kind: "name", label: "asLabel", help: "asHelp" };
const table: StepField = { key: "db", kind: "table", label: "tableLabel", required: true };
const record: StepField = { key: "id", kind: "template", label: "recordLabel", help: "recordHelp", required: true };
const expand: StepField = { key: "expand", kind: "value", label: "expandLabel", help: "expandHelp" };
const calls: readonly StepField[] = [
  { key: "connector", kind: "connection", label: "connectionLabel", required: true },
  { key: "method", kind: "action", label: "actionLabel", required: true },
  { key: "params", kind: "map", label: "putIn", help: "putInHelp" },
  result,
];
const call = {
  start: { type: "connector", connector: "", method: "", params: {} },
  fields: calls,
  group: "outside",
} as const;
const called = {
  says: "callSays",
  pieces: { connection: ["connection", "connector"], action: ["action", "method"] },
} as const;
const inTable = { table: ["table", "db"] } as const;

export const kinds: readonly StepKind[] = [
  {
    id: "find",
    group: "data",
    icon: search,
    color: "sky",
    title: "findKind",
    about: "findAbout",
    is: isOf({ type: "db", op: "search" }),
    start: { type: "db", op: "search", db: "", as: "found" },
    fields: [table, { key: "params", kind: "search", label: "whereLabel" }, expand, result],
    says: "findSays",
    pieces: { ...inTable, where: ["where", "params.filter"] },
  },
  {
    id: "read",
    group: "data",
    icon: eye,
    color: "sky",
    title: "readKind",
    about: "readAbout",
    is: isOf({ type: "db", op: "get" }),
    start: { type: "db", op: "get", db: "", id: "", as: "record" },
    fields: [table, record, expand, result],
    says: "readSays",
    pieces: { ...inTable, record: ["template", "id"] },
  },
  {
    id: "create",
    group: "data",
    icon: plus,
    color: "green",
    title: "createKind",
    about: "createAbout",
    is: isOf({ type: "db", op: "create" }),
    start: { type: "db", op: "create", db: "", data: {} },
    fields: [table, { key: "data", kind: "map", label: "fieldsLabel", required: true }, result],
    says: "createSays",
    pieces: { ...inTable, names: ["names", "data"] },
  },
  {
    id: "change",
    group: "data",
    icon: pencil,
    color: "orange",
    title: "changeKind",
    about: "changeAbout",
    is: isOf({ type: "db", op: "update" }),
    start: { type: "db", op: "update", db: "", id: "{{ data.id }}", data: {} },
    fields: [
      table,
      record,
      { key: "data", kind: "map", label: "fieldsLabel" },
      { key: "increment", kind: "map", label: "incrementLabel", help: "incrementHelp" },
      { key: "if", kind: "map", label: "onlyIfLabel", help: "ifHelp" },
      result,
    ],
    says: "changeSays",
    pieces: { ...inTable, names: ["names", "data"] },
  },
  {
    id: "delete",
    group: "data",
    icon: trash,
    color: "red",
    title: "deleteKind",
    about: "deleteAbout",
    is: isOf({ type: "db", op: "delete" }),
    start: { type: "db", op: "delete", db: "", id: "{{ data.id }}" },
    fields: [table, record],
    says: "deleteSays",
    pieces: { ...inTable, record: ["template", "id"] },
  },
  {
    id: "http",
    group: "outside",
    icon: globe,
    color: "indigo",
    title: "httpKind",
    about: "httpAbout",
    service: "core/custom_connector",
    is: isOf({ type: "http" }),
    start: { type: "http", method: "POST", url: "" },
    fields: [
      { key: "method", kind: "verb", label: "verbLabel" },
      { key: "url", kind: "template", label: "addressLabel", help: "urlHelp", required: true },
      { key: "body", kind: "map", label: "bodyLabel", help: "bodyHelp" },
      { key: "headers", kind: "map", label: "headersLabel" },
      { key: "query", kind: "map", label: "queryLabel" },
      { key: "connector", kind: "connection", label: "secretOf" },
      result,
    ],
    says: "httpSays",
    pieces: { verb: ["template", "method"], address: ["template", "url"] },
  },
  {
    id: "mail",
    group: "outside",
    icon: mail,
    color: "indigo",
    title: "mailKind",
    about: "mailAbout",
    is: isOf({ type: "mail.send" }),
    start: { type: "mail.send", params: { to: "", subject: "", text: "" } },
    fields: [{ key: "params", kind: "map", label: "putIn", required: true }, result],
    says: "mailSays",
    pieces: { to: ["template", "params.to"], subject: ["template", "params.subject"] },
  },
  {
    id: "ask",
    group: "people",
    icon: hand,
    color: "plum",
    title: "askKind",
    about: "askAbout",
    is: isOf({ type: "ask" }),
    start: { type: "ask", to: "", title: "", as: "answer" },
    fields: [
      { key: "to", kind: "subjects", label: "askTo", help: "askToHelp", required: true },
      { key: "title", kind: "template", label: "askTitle", required: true },
      { key: "text", kind: "template", label: "askText" },
      { key: "choices", kind: "choices", label: "askChoices", help: "askChoicesHelp" },
      { key: "fields", kind: "asked", label: "askFields", help: "askFieldsHelp" },
      { key: "timeout", kind: "days", label: "askDays", help: "askDaysHelp" },
      { key: "otherwise", kind: "choice", label: "askOtherwise" },
      { key: "remind", kind: "days", label: "askRemind", help: "askRemindHelp" },
      result,
    ],
    says: "askSays",
    pieces: { to: ["subjects", "to"], title: ["template", "title"] },
  },
  {
    ...call,
    ...called,
    id: "model",
    group: "code",
    icon: bot,
    color: "plum",
    title: "modelKind",
    about: "modelAbout",
    service: "core/llm",
    is: isCall("core/llm", "chat"),
    start: { ...call.start, method: "chat", params: { messages: [{ role: "user", content: "" }] }, as: "answer" },
  },
  {
    id: "script",
    group: "code",
    icon: braces,
    color: "gray",
    title: "scriptKind",
    about: "scriptAbout",
    is: isOf({ type: "script" }),
    start: { type: "script", input: {}, source: "return input;", as: "made" },
    fields: [
      { key: "input", kind: "map", label: "scriptInput", help: "scriptInputHelp" },
      { key: "source", kind: "source", label: "scriptSource", help: "scriptHelp", required: true },
      result,
    ],
    says: "scriptSays",
    pieces: { names: ["names", "input"] },
  },
  {
    ...call,
    ...called,
    id: "connection",
    icon: plug,
    color: "teal",
    title: "connectionKind",
    about: "connectionAbout",
    is: isCall(undefined, ""),
  },
  {
    id: "if",
    group: "logic",
    icon: split,
    color: "gray",
    title: "ifKind",
    about: "ifAbout",
    is: isOf({ type: "if" }),
    start: { type: "if", condition: { left: "", op: "==", right: "" }, then: [] },
    fields: [{ key: "condition", kind: "condition", label: "conditionLabel", help: "conditionHelp", required: true }],
    says: "ifSays",
    pieces: { condition: ["condition", "condition"] },
  },
  {
    id: "each",
    group: "logic",
    icon: repeat,
    color: "gray",
    title: "eachKind",
    about: "eachAbout",
    is: isOf({ type: "each" }),
    start: { type: "each", in: "", do: [] },
    fields: [
      { key: "in", kind: "expression", label: "inLabel", help: "inHelp", required: true },
      { key: "as", kind: "name", label: "itemLabel", help: "asEachHelp" },
      { key: "concurrency", kind: "number", label: "atOnceLabel", help: "concurrencyHelp" },
    ],
    says: "eachSays",
    pieces: { list: ["template", "in"] },
  },
  {
    id: "try",
    group: "logic",
    icon: shield,
    color: "gray",
    title: "tryKind",
    about: "tryAbout1",
    is: isOf({ type: "try" }),
    start: { type: "try", do: [], catch: [] },
    fields: [result],
    says: "trySays",
    pieces: {},
  },
  {
    id: "parallel",
    group: "logic",
    icon: columns,
    color: "gray",
    title: "parallelKind",
    about: "parallelAbout",
    is: isOf({ type: "parallel" }),
    start: { type: "parallel", branches: [[], []] },
    fields: [{ key: "concurrency", kind: "number", label: "atOnceLabel", help: "parallelHelp" }, result],
    says: "parallelSays",
    pieces: {},
  },
  {
    id: "set",
    group: "logic",
    icon: variable,
    color: "gray",
    title: "setKind",
    about: "setAbout",
    is: isOf({ type: "mutation" }),
    start: { type: "mutation", set: {} },
    fields: [{ key: "set", kind: "map", label: "valuesLabel", help: "setHelp", required: true }],
    says: "setSays",
    pieces: { names: ["names", "set"] },
  },
  {
    id: "flow",
    group: "logic",
    icon: workflow,
    color: "amber",
    title: "flowKind",
    about: "flowAbout",
    is: isOf({ type: "flow" }),
    start: { type: "flow", flow: "", input: {} },
    fields: [
      { key: "flow", kind: "flow", label: "flowLabel", required: true },
      { key: "input", kind: "map", label: "putIn", help: "putInHelp" },
      result,
    ],
    says: "flowSays",
    pieces: { flow: ["flow", "flow"] },
  },
  {
    id: "return",
    group: "logic",
    icon: cornerLeftDown,
    color: "gray",
    title: "returnKind",
    about: "returnAbout",
    is: isOf({ type: "return" }),
    start: { type: "return", value: "" },
    fields: [{ key: "value", kind: "value", label: "resultLabel", help: "valueHelp" }],
    says: "returnSays",
    pieces: { value: ["template", "value"] },
  },
  {
    id: "fail",
    group: "logic",
    icon: octagonX,
    color: "red",
    title: "failKind",
    about: "failAbout",
    is: isOf({ type: "fail" }),
    start: { type: "fail", message: "" },
    fields: [{ key: "message", kind: "template", label: "messageLabel" }],
    says: "failSays",
    pieces: { message: ["template", "message"] },
  },
  {
    id: "wait",
    group: "time",
    icon: timer,
    color: "amber",
    title: "waitKind",
    about: "waitAbout",
    is: isOf({ type: "wait" }),
    start: { type: "wait", seconds: 60 },
    fields: [{ key: "seconds", kind: "value", label: "secondsLabel", help: "secondsHelp", required: true }],
    says: "waitSays",
    pieces: { time: ["seconds", "seconds"] },
  },
  {
    id: "wait_for",
    group: "time",
    icon: hourglass,
    color: "amber",
    title: "waitForKind",
    about: "waitForAbout",
    is: isOf({ type: "wait_for" }),
    start: { type: "wait_for", source_type: "Core::Record", kind: "update", filter: {}, as: "event" },
    fields: [
      { key: "filter", kind: "event", label: "waitForLabel", required: true },
      { key: "timeout", kind: "days", label: "waitForDays", help: "waitForDaysHelp" },
      { key: "otherwise", kind: "value", label: "waitForOtherwise" },
      result,
    ],
    says: "waitForSays",
    pieces: { event: ["event", "type"] },
  },
];

/** Steps that plugins add are called by their type. */
export const own: StepKind = {
  id: "own",
  group: "code",
  icon: box,
  color: "gray",
  title: "ownKind",
  about: "ownKind",
  is: (step) => typeof step["type"] === "string" && step["type"].includes("."),
  start: { type: "", params: {} },
  fields: [{ key: "params", kind: "map", label: "putIn", help: "putInHelp" }, result],
  says: "setSays",
  pieces: { names: ["names", "params"] },
};

/** Undefined for what is no step. */
export function kindOf(
  step: unknown,
  ofConnection: (code: string) => string | undefined = () => undefined,
): StepKind | undefined {
  return isStep(step) ? [...kinds, own].find((kind) => kind.is(step, ofConnection)) : undefined;
}
