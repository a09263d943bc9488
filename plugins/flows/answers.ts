/** The answers of the routes of flows and their processes. */
import { answer, field, Type } from "platform";

const status = field.oneOf(["pending", "finished", "error"]);

export const FlowVersion = answer.object("FlowVersion", {
  version: Type.Integer({ minimum: 1 }),
  program: Type.Array(Type.Unknown()),
  created_by_id: field.nullable(Type.Integer()),
  created_at: answer.time(),
});

/** Tokens used by calls of models. */
const TokenUsage = answer.object("TokenUsage", { input_tokens: Type.Integer(), output_tokens: Type.Integer() });

const FlowStep = answer.object("FlowStep", {
  id: Type.String(),
  type: Type.String(),
  status,
  started_at: Type.String({ format: "date-time" }),
  finished_at: field.nullable(Type.String({ format: "date-time" })),
  output: Type.Unknown(),
  error: field.nullable(Type.String()),
  warnings: Type.Optional(answer.list(Type.String())),
  usage: Type.Optional(TokenUsage),
  input: Type.Optional(Type.Unknown()),
  attempts: Type.Optional(Type.Integer()),
});

const process = {
  id: answer.uuid(),
  flow_code: Type.String(),
  status,
  input: answer.json(),
  data: Type.Unknown(),
  error: field.nullable(Type.String()),
  steps: answer.list(FlowStep),
  /** Of all steps together; a list leaves it out. */
  usage: Type.Optional(TokenUsage),
  created_at: answer.time(),
  finished_at: field.nullable(answer.time()),
};

/** With `include=` only. */
const included = {
  started_by: Type.Optional(field.nullable(answer.json())),
  trace_id: Type.Optional(field.nullable(Type.String())),
};

export const FlowProcess = answer.object("FlowProcess", { ...process, ...included });
export const FlowRun = answer.object("FlowRun", { ...process, flow_process_id: answer.uuid() });

const milliseconds = field.nullable(Type.Integer());
export const FlowStats = answer.object("FlowStats", {
  from: answer.time(),
  runs: Type.Integer(),
  failed: Type.Integer(),
  p50_ms: milliseconds,
  p99_ms: milliseconds,
});

export const FlowTest = answer.object("FlowTest", {
  status,
  data: Type.Unknown(),
  error: field.nullable(Type.String()),
  steps: answer.list(FlowStep),
});

export const StepTrial = answer.object("FlowStepTrial", {
  ok: Type.Boolean(),
  status: field.nullable(Type.Integer()),
  headers: Type.Record(Type.String(), Type.String()),
  data: Type.Unknown(),
  error: field.nullable(Type.String()),
});

export const StepTypeAnswer = answer.object("FlowStepType", {
  type: Type.String(),
  doc: Type.String(),
  params: answer.json(),
  privilege: field.nullable(Type.String()),
});

/** What else it holds depends on its kind. */
export const TriggerAnswer = {
  ...answer.object("FlowTrigger", {
    id: Type.String(),
    kind: Type.String(),
    active: Type.Boolean(),
    trouble: Type.Optional(field.nullable(Type.String())),
    path: Type.String(),
  }),
  additionalProperties: true,
};
