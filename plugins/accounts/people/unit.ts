/** Teams, departments and groups are alike: they differ in their kind alone. behaviour B.1. */
import { column, field, filter, resource } from "platform";
import { unitKinds, type UnitKind } from "../api.ts";

const { integer, text } = column;

const unit = (kind: UnitKind) =>
  resource(kind, {
    table: "units",
    type: "Unit",
    fixed: { kind },
    path: `/account/${kind}s`,
    id: "integer",
    privilege: "users",
    model: "Account::Unit",
    authors: [],
    fields: {
      name: text({ label: ["Name", "Nazwa", "Name"], body: field.name(), example: "Sales" }),
      people: integer({
        label: ["People", "Osoby", "Personen"],
        by: "server",
        doc: "how many people are in it",
        from: "(select count(*) from memberships where unit_id = units.id)",
        example: 3,
      }),
    },
    filters: { q: filter.searching(["name"], "searches the name") },
    example: { id: 1 },
    request: ["name"],
    made: { people: 0 },
    change: { name: "Sales North" },
    docs: { create: { summary: `Add a ${kind}` }, delete: { summary: `Delete a ${kind}; its people stay` } },
  });

export const units = { team: unit("team"), department: unit("department"), group: unit("group") } as const;
export const allUnits = unitKinds.map((kind) => units[kind]);
