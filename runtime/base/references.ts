/**
 * Typed references: what one plugin names so that another can use it without importing its code.
 * Each carries its payload's type, so a wrong payload or an undeclared need does not compile.
 */

/** A service that one plugin provides and others need, e.g. `service<Tokens>("tokens")`. */
export interface ServiceRef<T> {
  readonly type: "service";
  readonly id: string;
  readonly of?: () => T;
}

/** Something that has happened, named in the past tense: `event<RecordChange>("core.record.created")`. */
export interface EventRef<T> {
  readonly type: "event";
  readonly id: string;
  readonly of?: () => T;
}

/** Work to do, now or later, named as an order: `job<{ dbId: string }>("jsondb.reindex")`. Payloads are JSON. */
export interface JobRef<T> {
  readonly type: "job";
  readonly id: string;
  readonly of?: () => T;
}

export function service<T>(id: string): ServiceRef<T> {
  return { type: "service", id };
}

export function event<T>(id: string): EventRef<T> {
  return { type: "event", id };
}

export function job<T>(id: string): JobRef<T> {
  return { type: "job", id };
}
