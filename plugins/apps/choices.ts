/** The choices of an app: its language, its style engine, and where it is embedded. behaviour 2.3. */
export const appEngines = ["svelte", "vue", "react", "js", "html", "kaboom", "phaser"] as const;

export type AppEngine = (typeof appEngines)[number];

export const cssEngines = ["tailwind_all", "tailwind", "none"] as const;

export type CssEngine = (typeof cssEngines)[number];

// `show_in_module`: the modules and views in which an app can be embedded.

export const modules = [
  "organize",
  "mail",
  "crm",
  "kb",
  "cms",
  "connect",
  "voip",
  "form",
  "insight",
  "billing",
  "drive",
  "fiskator",
  "commerce",
  "account",
] as const;

const viewForm = /^[a-z][a-z0-9_]*(?:\/[a-z][a-z0-9_]*){1,3}$/;

export function isModule(value: string): boolean {
  return modules.some((name) => name === value);
}

/** Whether this is the path of a view: `tasks/show`, `contacts/index`. */
export function isView(value: string): boolean {
  return value.length <= 100 && viewForm.test(value);
}
