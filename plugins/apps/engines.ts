/** The languages and style engines of apps. behaviour 2.3. */
export const appEngines = ["svelte", "vue", "react", "js", "html", "kaboom", "phaser"] as const;

export type AppEngine = (typeof appEngines)[number];

export const cssEngines = ["tailwind_all", "tailwind", "none"] as const;

export type CssEngine = (typeof cssEngines)[number];
