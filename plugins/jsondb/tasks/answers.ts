/** The answers of the routes of tasks. */
import { answer, field, Type } from "platform";
import { RowFault } from "../records/answers.ts";

const task = {
  id: answer.uuid(),
  kind: field.oneOf(["import", "export", "reindex", "update", "delete"]),
  status: field.oneOf(["running", "finished", "failed"]),
  done: Type.Integer(),
  total: field.nullable(Type.Integer()),
  stored: Type.Integer(),
  failed: Type.Integer(),
  error: field.nullable(Type.String()),
  warnings: answer.list(Type.String()),
  created_by_id: field.nullable(Type.Integer()),
  started_at: answer.time(),
  finished_at: field.nullable(answer.time()),
};

/** A list leaves the faulty rows out. */
export const ListedTask = answer.object("DbTask", task);
export const ShownTask = answer.object("DbTaskWithErrors", { ...task, errors: answer.list(RowFault) });
