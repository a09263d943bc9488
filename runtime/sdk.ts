/** Everything that a plugin may import under the name "platform". */
export { Type } from "@sinclair/typebox";
export type { Static, TObject, TSchema } from "@sinclair/typebox";
export { answer, pageQuery } from "./http/answers/answers.ts";
export type { JsonObject } from "./http/answers/answers.ts";
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
export { cacheKey, parseCacheKey } from "./broadcast/cache.ts";
export type { Cache } from "./broadcast/cache.ts";
export { limitKey, networkTest } from "./net/client-address.ts";
export { ChildFault } from "./child/child-process.ts";
export type { Child, ChildOptions } from "./child/child.ts";
export { causationHeader, causationToHeader, currentCausation, maxDepth, withCausation } from "./scope/causation.ts";
export type { Causation } from "./scope/causation.ts";
export { afterCommit, databaseFault, readOn } from "./db/db.ts";
export type { Fragment, Queryable, Read, Reader, Sql, Tx } from "./db/db.ts";
export { isDateTime, isDay } from "./times/dates.ts";
export { zoneOffset } from "./times/format-date.ts";
export { ExactNumber, exactly, isNumber, parseExactly } from "./base/exact-number.ts";
export type { Certificates, KeyPair } from "./plugin/certificates.ts";
export { addressOf, isLocalHost } from "./http/door.ts";
export type { DoorRequest, HostDoor, SiteDoor } from "./http/door.ts";
export { findingsOf, reasonOf } from "./plugin/finding.ts";
export type { CheckContext, Finding } from "./plugin/finding.ts";
export { escapeHtml } from "./base/text.ts";
export { filledIn, languageOf } from "./http/language.ts";
export type { Language } from "./http/language.ts";
export * from "./base/errors.ts";
export { etag, expectedVersion, isKnownTag, mustMatch } from "./http/answers/etag.ts";
export { putAt } from "./base/put.ts";
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
} from "./base/values.ts";
export type { Page } from "./base/values.ts";
export { batched } from "./db/batch.ts";
export { bytesBefore, printedLength, readBounds } from "./base/read-bounds.ts";
export { readPage, readRows } from "./db/page-store.ts";
export type { ReadPage } from "./db/page-store.ts";
export { createTurns, createTurnsByKey } from "./base/turns.ts";
export type { TurnsByKey } from "./base/turns.ts";
export { failpoint } from "./system/failpoints.ts";
export { eventJob } from "./events/events.ts";
export { field } from "./http/answers/fields.ts";
export { readFolder, readTextFile, writeFolder } from "./system/folder.ts";
export type { TextFiles } from "./system/folder.ts";
export { failedJob, newestJob, openJob } from "./jobs/job-store.ts";
export { createLeases, createWriter, type Lease, type Leases } from "./jobs/leases.ts";
export { createClaims, createPolls, untilTrue } from "./jobs/polls.ts";
export { hasPlace, leave, nothingHeld, take, type SlotUsage } from "./jobs/shares.ts";
export type { Content, Draft, Files, Part } from "./files/files.ts";
export { freeCode } from "./db/free-code.ts";
export { generatedFile, packageIn } from "./system/generated.ts";
export { contentHash, createSha256, sha256 } from "./base/hash.ts";
export { createLiquid, LiquidFault } from "./liquid/liquid.ts";
export type { FilterFunction as LiquidFilter, Liquid, Template as LiquidTemplate } from "./liquid/liquid.ts";
export { activityCause, actorText, currentActor, sourceOf, withActor, withSource } from "./scope/actor.ts";
export type { Actor, Source } from "./scope/actor.ts";
export { backupEnded } from "./events/models.ts";
export type { BackupEnd } from "./events/models.ts";
export { noticed } from "./events/models.ts";
export type { Notice } from "./events/models.ts";
export { before } from "./events/hooks.ts";
export type { Hook } from "./events/hooks.ts";
export type { Log } from "./system/log.ts";
export { modelChanged } from "./events/models.ts";
export { OutboundFault } from "./outbound/outbound.ts";
export type { OutboundResponse } from "./outbound/outbound.ts";
export type { Connect, OutboundConnection, OutboundSocket } from "./outbound/outbound-socket.ts";
export { platformVersion } from "./plugin/facts.ts";
export { randomToken, SecretFault } from "./base/secrets.ts";
export type { Model, ModelEvent } from "./events/models.ts";
export { definePlugin, on, onEvent } from "./plugin/plugin.ts";
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
} from "./plugin/plugin.ts";
export type { StudioPage } from "./plugin/studio-pages.ts";
export { hashPassword, verifyPassword } from "./base/secrets.ts";
export { usedByRoute } from "./plugin/naming.ts";
export type { Mention, Nameable, NamedRecord, Names, Use, Uses } from "./plugin/naming.ts";
export { event, job, service } from "./base/references.ts";
export type { EventRef, JobRef, ServiceRef } from "./base/references.ts";
export { endsEarly, pageReply } from "./http/answers/reply.ts";
export * from "./http/answers/reply.ts";
export { parseRetryAfter } from "./http/limits/rate-limit.ts";
export type { SubrequestOptions, InnerAnswer } from "./http/subrequest.ts";
export * as column from "./resource/fields.ts";
export type { DraftOf, GivenOf, KeptOf, NewOf, PatchOf, RowOf, ShownOf } from "./resource/fields.ts";
export * as filter from "./resource/filter-store.ts";
export { resource, view } from "./resource/resource.ts";
export type { AfterCommit, At, Author, Change, Changed, Mistakes } from "./resource/declaration.ts";
export type { Derivations, Resource, Shape, Typed } from "./resource/declaration.ts";
export type { LoggedTable, ResourceFacts } from "./plugin/facts.ts";
export { resourceRoutes, shown, type ContextOf } from "./resource/routes.ts";
export { announce, change, create, edit, erase, found, locked, merged, refOf, toApi } from "./resource/verbs.ts";
export { count, find, findBy, insert, list as listRows, lock, remove, update, words } from "./resource/store.ts";
export type { Ref } from "./resource/store.ts";
export { route } from "./http/route.ts";
export type { Access, Look, Method, RequestInput, Route, RouteSpec } from "./http/route.ts";
export { latestDueTime, nextDueTimes } from "./times/due-times.ts";
export type { Secrets } from "./base/secrets.ts";
export { asciiOf, nearest, slugOf } from "./base/text.ts";
export { misspeltNames, pageHints, unknownNames } from "./http/refusals/unknown.ts";
export { createPackedText } from "./http/answers/packed-text.ts";
export { webFile } from "./http/answers/web-file.ts";
export { isForm } from "./http/form.ts";
export { warned } from "./http/refusals/warning.ts";
export * as setting from "./settings/settings.ts";
export type { ConfigOf, Settings } from "./settings/settings.ts";
