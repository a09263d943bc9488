/** Formats a log entry for people: `10:00:00 WARN the database does not answer reason="connect ECONNREFUSED"`. */
export function textLine(
  time: Date,
  level: string,
  message: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  const { error, ...others } = fields;
  const pairs = Object.entries(others).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${shown(value)}`,
  );
  const importance = level === "info" ? [] : [level.toUpperCase()];
  const line = [clock(time), ...importance, message, ...pairs].join(" ");
  return error === undefined ? line : `${line}\n${told(error)}`;
}

/** In the reader's time zone. */
function clock(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => `${part}`.padStart(2, "0")).join(":");
}

function shown(value: unknown): string {
  if (typeof value === "string") return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
  if (value instanceof Error) return JSON.stringify(value.message);
  if (typeof value === "bigint") return `${value}`;
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? `${inner}` : inner)) ?? "";
}

/** An error and its causes, each with its stack, indented under the line. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return `  ${shown(error)}`;
  const own = (error.stack ?? error.message).replaceAll("\n", "\n  ");
  // Not every engine starts a stack with the message.
  const said = own.includes(error.message) ? own : `${error.message}\n  ${own}`;
  return error.cause === undefined ? `  ${said}` : `  ${said}\n  because\n${told(error.cause)}`;
}
