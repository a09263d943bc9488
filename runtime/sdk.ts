/** Everything that a plugin may import under the name "platform". */
export { Type } from "@sinclair/typebox";
export type { Static, TObject, TSchema } from "@sinclair/typebox";
export { answer, pageQuery } from "./openapi/answers.ts";
export type { JsonObject } from "./openapi/answers.ts";
export { credentialOf, fromSameOrigin, RefusedCredential, roles, readCookie, sessionCookieName } from "./http/auth.ts";
export type {
  Account,
  AppGrant,
  Caller,
  ClientAddress,
  Credential,
  Identify,
  Identity,
  Privilege,
  Quota,
  Role,
  User,
} from "./http/auth.ts";
export { cacheKey, parseCacheKey } from "./events/cache.ts";
export type { Cache } from "./events/cache.ts";
export { limitKey, networkTest } from "./http/client-address.ts";
export { ChildFault } from "./child/child-process.ts";
export type { Child, ChildOptions } from "./child/child.ts";
export { causationHeader, causationToHeader, currentCausation, withCausation } from "./events/causation.ts";
export type { Causation } from "./events/causation.ts";
export { afterCommit, databaseFault, readOn } from "./db.ts";
export type { Fragment, Queryable, Read, Reader, Sql, Tx } from "./db.ts";
export { isDateTime, isDay } from "./dates.ts";
export { ExactNumber, exactly, isNumber, parseExactly } from "./exact-number.ts";
export type { Certificates, KeyPair } from "./https/certificates.ts";
export { isLocalHost } from "./http/door.ts";
export type { DoorRequest, HostDoor, SiteDoor } from "./http/door.ts";
export { findingsOf, reasonOf } from "./doctor/finding.ts";
export type { CheckContext, Finding } from "./doctor/finding.ts";
export { escapeHtml } from "./html.ts";
export { filledIn, languageOf } from "./http/language.ts";
export type { Language } from "./http/language.ts";
export * from "./errors.ts";
export { etag, expectedVersion, isKnownTag, mustMatch } from "./http/answers/etag.ts";
export { putAt } from "./put.ts";
export { checkerOf, givenFields, parseJson, refuseUnstorable } from "./http/validate.ts";
export {
  flagOf,
  integerId,
  isObject,
  isUuid,
  pageOf,
  timeOfUuidv7,
  trimmedEnd,
  uuidOf,
  uuidv7,
  wildcardPattern,
} from "./values.ts";
export type { Page } from "./values.ts";
export { batched } from "./batch.ts";
export { bytesBefore, printedLength, readBounds } from "./read-bounds.ts";
export { readPage, readRows } from "./page-store.ts";
export type { ReadPage } from "./page-store.ts";
export { createTurns, createTurnsByKey } from "./turns.ts";
export type { TurnsByKey } from "./turns.ts";
export { failpoint } from "./failpoints.ts";
export { eventJob } from "./events/events.ts";
export { field } from "./http/answers/fields.ts";
export { readFolder, readTextFile, writeFolder } from "./command/folder.ts";
export type { TextFiles } from "./command/folder.ts";
export { failedJob, openJob } from "./jobs/job-store.ts";
export type { Content, Draft, Files, Part } from "./files/files.ts";
export { freeCode } from "./free-code.ts";
export { generatedFile, packageIn } from "./generated.ts";
export { contentHash, createSha256, sha256 } from "./hash.ts";
export { createLiquid, LiquidFault } from "./liquid/liquid.ts";
export type { FilterFunction as LiquidFilter, Liquid, Template as LiquidTemplate } from "./liquid/liquid.ts";
export { activityCause, actorText, currentActor, withActor } from "./events/actor.ts";
export type { Actor } from "./events/actor.ts";
export { backupEnded } from "./events/backup-ended.ts";
export type { BackupEnd } from "./events/backup-ended.ts";
export { noticed } from "./events/notices.ts";
export type { Notice } from "./events/notices.ts";
export { before } from "./events/hooks.ts";
export type { Hook } from "./events/hooks.ts";
export type { Log } from "./log.ts";
export { modelChanged } from "./events/models.ts";
export { OutboundFault } from "./outbound/outbound.ts";
export type { OutboundResponse } from "./outbound/outbound.ts";
export type { Connect, OutboundConnection, OutboundSocket } from "./outbound/outbound-socket.ts";
export { platformVersion } from "./authors/platform-version.ts";
export { randomToken, SecretFault } from "./secrets.ts";
export type { Model, ModelEvent } from "./events/models.ts";
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
export type { StudioPage } from "./studio-pages.ts";
export { hashPassword, verifyPassword } from "./password.ts";
export { usedByRoute } from "./naming.ts";
export type { Mention, Nameable, Named, Names, Use, Uses } from "./naming.ts";
export { event, job, service } from "./references.ts";
export type { EventRef, JobRef, ServiceRef } from "./references.ts";
export { endsEarly, pageReply } from "./http/answers/page-reply.ts";
export * from "./http/answers/reply.ts";
export { parseRetryAfter } from "./http/limits/retry-after.ts";
export type { Asking, InnerAnswer } from "./http/subrequest.ts";
export * as column from "./resource/fields.ts";
export type { DraftOf, GivenOf, NewOf, PatchOf, RowOf } from "./resource/fields.ts";
export * as filter from "./resource/filter-store.ts";
export { resource } from "./resource/resource.ts";
export type { At, Author, Change, Changed, Mistakes } from "./resource/declaration.ts";
export type { LoggedTable, ResourceFacts } from "./resource/facts.ts";
export { resourceRoutes, shown, type Around } from "./resource/routes.ts";
export { change, create, erase, found, refOf, toApi } from "./resource/verbs.ts";
export { count, find, findBy, lock, remove, words } from "./resource/store.ts";
export type { Ref } from "./resource/store.ts";
export { route } from "./http/route.ts";
export type { Access, Method, RequestInput, Route, RouteSpec } from "./http/route.ts";
export { latestDueTime, nextDueTimes } from "./jobs/due-times.ts";
export type { Secrets } from "./secrets.ts";
export { nearest, unknownNames } from "./http/refusals/unknown.ts";
export { createPackedText } from "./http/answers/packed-text.ts";
export { webFile } from "./http/answers/web-file.ts";
export { asciiOf, slugOf } from "./slug.ts";
export { isForm } from "./http/form.ts";
export { warned } from "./http/refusals/warning.ts";
export * as setting from "./settings.ts";
export type { ConfigOf, Settings } from "./settings.ts";
