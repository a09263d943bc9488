/** All that a plugin may import, under the name "platform". */
export { Type } from "@sinclair/typebox";
export type { Static, TObject, TSchema } from "@sinclair/typebox";
export { answer, pageQuery } from "./answers.ts";
export type { JsonObject } from "./answers.ts";
export { credentialOf, fromSameOrigin, roles, readCookie, sessionCookieName } from "./auth.ts";
export type { Account, AppGrant, Caller, Credential, Identify, Identity, Privilege, Role, User } from "./auth.ts";
export type { Cache } from "./cache.ts";
export { limitKey } from "./client-address.ts";
export { ChildFault } from "./child-process.ts";
export type { Child, ChildOptions } from "./child.ts";
export { causationHeader, causationToHeader, currentCausation, withCausation } from "./causation.ts";
export type { Causation } from "./causation.ts";
export { afterCommit, databaseFault } from "./db.ts";
export type { Fragment, Queryable, Sql, Tx } from "./db.ts";
export { isDateTime, isDay } from "./dates.ts";
export type { DoorRequest, HostDoor } from "./door.ts";
export { escapeHtml } from "./docs-page.ts";
export * from "./errors.ts";
export { etag, expectedVersion, isKnownTag } from "./etag.ts";
export { checkerOf, parseJson, refuseUnstorable } from "./validate.ts";
export { flagOf, integerId, isUuid, pageOf, slugOf, trimmedEnd, uuidOf, uuidv7, wildcardPattern } from "./values.ts";
export type { Page } from "./values.ts";
export { failpoint } from "./failpoints.ts";
export { eventJob } from "./events.ts";
export { field } from "./fields.ts";
export { readFolder, readTextFile, writeFolder } from "./folder.ts";
export type { TextFiles } from "./folder.ts";
export { failedJob, openJob } from "./job-store.ts";
export { freeCode } from "./free-code.ts";
export { generatedFile } from "./generated.ts";
export { contentHash, createSha256, sha256 } from "./hash.ts";
export { createLiquid, LiquidFault } from "./liquid.ts";
export type { FilterFunction as LiquidFilter, Liquid, Template as LiquidTemplate } from "./liquid.ts";
export { before } from "./hooks.ts";
export type { Hook } from "./hooks.ts";
export type { Log } from "./log.ts";
export { modelChanged } from "./models.ts";
export { OutboundFault } from "./outbound.ts";
export type { OutboundResponse } from "./outbound.ts";
export type { Connect, OutboundConnection, OutboundSocket } from "./outbound-socket.ts";
export { platformVersion } from "./platform-version.ts";
export { randomToken, SecretFault } from "./secrets.ts";
export type { Model, ModelChange } from "./models.ts";
export { definePlugin, on, onEvent } from "./plugin.ts";
export type {
  BaseContext,
  Command,
  CommandFacts,
  Context,
  Handler,
  Needs,
  Plugin,
  PluginFacts,
  Schedule,
  Started,
} from "./plugin.ts";
export { hashPassword, verifyPassword } from "./password.ts";
export { event, job, service } from "./references.ts";
export type { EventRef, JobRef, ServiceRef } from "./references.ts";
export * from "./reply.ts";
export { parseRetryAfter } from "./retry-after.ts";
export { route } from "./route.ts";
export type { Access, Method, RequestInput, Route } from "./route.ts";
export { latestDueTime, nextDueTimes } from "./schedule.ts";
export type { Secrets } from "./secrets.ts";
export { unknownNames } from "./unknown.ts";
export { warned } from "./warning.ts";
export * as setting from "./settings.ts";
export type { ConfigOf, Settings } from "./settings.ts";
