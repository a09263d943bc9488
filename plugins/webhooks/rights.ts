/** Who may follow which model: when a webhook is saved or looked into, and again whenever it sends. No HTTP, no SQL. */
import { forbidden, type BaseContext, type Caller, type Model, type Role } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { TargetKind, WebhookRow } from "./store.ts";

type Data = Readonly<Record<string, unknown>>;

/** What a person, or a token of theirs, may do. */
export interface Able {
  readonly role: Role;
  readonly privileges: ReadonlySet<string>;
}

/** Why a record is not sent. */
export interface Refusal {
  readonly reason: string;
  /** Nothing of this model is sent, not only this record. */
  readonly whole: boolean;
}

interface Needed {
  readonly models: ReadonlyMap<string, Model>;
  readonly accounts: Pick<Accounts, "access">;
  readonly plugins: BaseContext["plugins"];
}

interface Target {
  readonly targetKind: TargetKind;
  readonly targetCode: string | null;
}

export type Rights = ReturnType<typeof createRights>;

/** Throws if a model names a privilege that nobody can have. */
export function createRights({ models, accounts, plugins }: Needed) {
  checkModels(plugins);
  // Its maker is unknown or gone: then it may do what every holder of `webhooks` can be expected to do, and no more.
  const nobody: Able = {
    role: "manager",
    privileges: new Set(
      plugins.flatMap((plugin) =>
        plugin.privileges.flatMap(({ name, roles }) => (roles.includes("manager") ? name : [])),
      ),
    ),
  };

  const makerOf = async ({ createdById }: Pick<WebhookRow, "createdById">): Promise<Able | undefined> => {
    const access = createdById === null ? undefined : await accounts.access(createdById);
    return access?.active ? { role: access.user.role, privileges: access.privileges } : undefined;
  };

  const mustFollow = (caller: Caller, sourceType: string): void => {
    const model = models.get(sourceType);
    if (!model || mayFollow(model, ableOf(caller))) return;
    const needed = model.privilege === undefined ? "the role `admin`" : `the privilege \`${model.privilege}\``;
    throw forbidden(`\`source_type\`: events of ${sourceType} need ${needed}`);
  };

  return {
    makerOf,
    mustFollow,

    /** The models that the caller may follow. */
    followed: (caller: Caller): Model[] => [...models.values()].filter((model) => mayFollow(model, ableOf(caller))),

    /** Throws the 403 if the caller newly names a flow or a connector without being let near them. */
    mustReach(caller: Caller, after: Target, before?: Target): void {
      const same = before?.targetKind === after.targetKind && before.targetCode === after.targetCode;
      if (after.targetKind !== "url" && !same && !caller.privileges.has("flows"))
        throw forbidden(`\`target_code\`: naming a ${after.targetKind} needs the privilege \`flows\``);
    },

    /** Throws the 403 if the webhook carries more than the caller may see. */
    mustManage(caller: Caller, { sourceType }: WebhookRow, maker: Able | undefined): void {
      mustFollow(caller, sourceType);
      if (models.get(sourceType)?.confidential && caller.user.role !== "admin" && maker?.role === "admin")
        throw forbidden(
          `an administrator's webhook on ${sourceType} is for administrators: it sends what you do not see`,
        );
    },

    /** Throws the 403 if the caller may not see the delivered record: the webhook may have followed another model then. */
    mustSee(caller: Caller, sourceType: string, data: Data): void {
      mustFollow(caller, sourceType);
      if (caller.user.role !== "admin" && models.get(sourceType)?.confidential?.(data))
        throw forbidden("this record is for administrators");
    },

    /** Why this webhook does not get this record, as things are now; undefined if it does. */
    async refusal(row: WebhookRow, sourceType: string, dataOf: () => Data): Promise<Refusal | undefined> {
      // Whoever changed the model since was checked for the new one only.
      if (sourceType !== row.sourceType)
        return { whole: false, reason: `not allowed: the webhook follows ${row.sourceType} now` };
      const model = models.get(sourceType);
      if (!model) return undefined;
      const maker = (await makerOf(row)) ?? nobody;
      if (!mayFollow(model, maker)) return { whole: true, reason: lacking(model) };
      if (maker.role === "admin" || !model.confidential?.(dataOf())) return undefined;
      return { whole: false, reason: "not allowed: only a webhook that an administrator made gets this record" };
    },
  };
}

/** A model that names no privilege is for administrators. */
function mayFollow({ privilege }: Model, { role, privileges }: Able): boolean {
  return privilege === undefined ? role === "admin" : privileges.has(privilege);
}

function ableOf({ user, privileges, narrowedTo }: Caller): Able {
  // A narrowed token has no model's unnamed privilege, whoever owns it.
  return { role: narrowedTo.length > 0 && user.role === "admin" ? "manager" : user.role, privileges };
}

function lacking({ name, privilege }: Model): string {
  const needed = privilege === undefined ? "is an administrator" : `has the privilege \`${privilege}\``;
  return `not allowed: events of ${name} go to webhooks of somebody who ${needed}; whoever made this one does not, or is gone`;
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
