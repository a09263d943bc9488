/** The right to follow a model: checked when a webhook is saved or looked into, and whenever it sends. No HTTP, no SQL. */
import { forbidden, type BaseContext, type Caller, type Model, type Role } from "platform";
import type { Accounts } from "../../accounts/api.ts";
import type { TargetKind, WebhookRow } from "./fields.ts";

type Data = Readonly<Record<string, unknown>>;

/** The rights of a person, or of one of their tokens. */
export interface Grants {
  readonly role: Role;
  readonly privileges: ReadonlySet<string>;
}

/** The reason why a record is not sent. */
export interface Refusal {
  readonly reason: string;
  /** Nothing of this model is sent, not only this record. */
  readonly whole: boolean;
}

export interface Rights {
  readonly models: ReadonlyMap<string, Model>;
  readonly accounts: Pick<Accounts, "access">;
  readonly names: Pick<BaseContext["names"], "opens">;
  /** For a webhook whose maker is unknown or gone: the rights that every holder of `webhooks` can be expected to have. */
  readonly nobody: Grants;
}

interface Target {
  readonly targetKind: TargetKind;
  readonly targetCode: string | null;
}

/** Throws if a model names a privilege that nobody can have. */
export function rightsOf(
  models: Rights["models"],
  accounts: Rights["accounts"],
  { plugins, names }: Pick<BaseContext, "plugins" | "names">,
): Rights {
  checkModels(plugins);
  const ofManagers = plugins.flatMap(({ privileges }) =>
    privileges.flatMap(({ name, roles }) => (roles.includes("manager") ? name : [])),
  );
  return { models, accounts, names, nobody: { role: "manager", privileges: new Set(ofManagers) } };
}

export async function makerOf({ accounts }: Rights, { createdById }: Pick<WebhookRow, "createdById">) {
  const access = createdById === null ? undefined : await accounts.access(createdById);
  return access?.active ? { role: access.user.role, privileges: access.privileges } : undefined;
}

export function mustFollow({ models }: Rights, caller: Caller, sourceType: string): void {
  const model = models.get(sourceType);
  // Its maker's rights decide what a webhook gets, so a token that opens only some of them makes none.
  if (model && caller.within?.[model.partOf?.model ?? model.name])
    throw forbidden(`\`source_type\`: your token opens only some of what events of ${sourceType} tell of`);
  if (!model || mayFollow(model, grantsOf(caller))) return;
  const needed = model.privilege === undefined ? "the role `admin`" : `the privilege \`${model.privilege}\``;
  throw forbidden(`\`source_type\`: events of ${sourceType} need ${needed}`);
}

export function followed({ models }: Rights, caller: Caller): Model[] {
  return [...models.values()].filter((model) => mayFollow(model, grantsOf(caller)));
}

/** Throws the 403 if the caller lacks `flows` and names a flow or a connector that the webhook did not name before. */
export function mustReach(caller: Caller, after: Target, before?: Target): void {
  const same = before?.targetKind === after.targetKind && before.targetCode === after.targetCode;
  if (after.targetKind !== "url" && !same && !caller.privileges.has("flows"))
    throw forbidden(`\`target_code\`: naming a ${after.targetKind} needs the privilege \`flows\``);
}

/** Throws the 403 if the webhook carries more than the caller may see. */
export function mustManage(
  rights: Rights,
  caller: Caller,
  { sourceType }: WebhookRow,
  maker: Grants | undefined,
): void {
  mustFollow(rights, caller, sourceType);
  if (rights.models.get(sourceType)?.confidential && caller.user.role !== "admin" && maker?.role === "admin")
    throw forbidden(
      `an administrator's webhook on ${sourceType} is for administrators: it sends records that you may not see`,
    );
}

/** Throws the 403 if the caller may not see the delivered record: the webhook may have followed another model before. */
export async function mustSee(rights: Rights, caller: Caller, sourceType: string, data: Data): Promise<void> {
  mustFollow(rights, caller, sourceType);
  const model = rights.models.get(sourceType);
  if (caller.user.role !== "admin" && model?.confidential?.(data)) throw forbidden("this record is for administrators");
  if (model && !(await isOpen(rights, model, caller.account.id, data, caller)))
    throw forbidden("this record is for those who may read all of what it is part of");
}

/** Whether a person may read all of what the record is part of. */
export async function isOpen(
  { names }: Rights,
  { partOf }: Model,
  accountId: number,
  data: Data,
  person: Pick<Caller, "user" | "privileges"> | undefined,
): Promise<boolean> {
  const key = partOf && data[partOf.key];
  return !partOf || typeof key !== "string" || names.opens({ model: partOf.model, key }, accountId, person);
}

/** Why this webhook does not get this record, as things are now; undefined if it does. */
export async function refusal(
  rights: Rights,
  row: Pick<WebhookRow, "accountId" | "sourceType" | "createdById">,
  sourceType: string,
  dataOf: () => Data,
): Promise<Refusal | undefined> {
  // The person who changed the model since was checked for the new one only.
  if (sourceType !== row.sourceType)
    return { whole: false, reason: `not allowed: the webhook follows ${row.sourceType} now` };
  const model = rights.models.get(sourceType);
  if (!model) return undefined;
  const maker = (await makerOf(rights, row)) ?? rights.nobody;
  if (!mayFollow(model, maker)) return { whole: true, reason: lacking(model) };
  if (maker.role !== "admin" && model.confidential?.(dataOf()))
    return { whole: false, reason: "not allowed: this record goes only to webhooks that an administrator made" };
  const person = row.createdById === null ? undefined : await rights.accounts.access(row.createdById);
  if (!model.partOf || (await isOpen(rights, model, row.accountId, dataOf(), person?.active ? person : undefined)))
    return undefined;
  return {
    whole: false,
    reason: "not allowed: the maker of this webhook may not read all of what the record is part of",
  };
}

/** A model that names no privilege is for administrators. */
function mayFollow({ privilege }: Model, { role, privileges }: Grants): boolean {
  return privilege === undefined ? role === "admin" : privileges.has(privilege);
}

function grantsOf({ user, privileges, narrowedTo }: Caller): Grants {
  // Models without a privilege are closed to narrowed tokens, also to an administrator's.
  return { role: narrowedTo.length > 0 && user.role === "admin" ? "manager" : user.role, privileges };
}

function lacking({ name, privilege }: Model): string {
  const needed = privilege === undefined ? "the role `admin`" : `the privilege \`${privilege}\``;
  return `not allowed: events of ${name} need ${needed}, and the maker of this webhook lacks it or is unknown`;
}

function checkModels(plugins: BaseContext["plugins"]): void {
  const known = new Set(plugins.flatMap(({ privileges }) => privileges.map(({ name }) => name)));
  for (const plugin of plugins) {
    for (const { name, privilege } of plugin.models) {
      if (privilege !== undefined && !known.has(privilege))
        throw new Error(
          `plugin "${plugin.name}": the model ${name} names the privilege "${privilege}", which no plugin declares`,
        );
    }
  }
}
