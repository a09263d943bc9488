/** React, kaboom and phaser: TypeScript or JavaScript, JSX for React. Plain JavaScript is looked at and left as it is. */
import { checkImports, compileModule } from "./module.ts";
import type { Code, Task } from "./types.ts";

export async function compileReact({ source, allowed }: Task): Promise<Code> {
  const { code, main } = await compileModule(source, { loader: "tsx", allowed });
  return { code: main === undefined ? code : `${code}\n${mount(main)}`, css: "" };
}

/** The imports of a game's library go first, so that its global is there before the game's own code runs. */
export async function compileGame(library: string, { source, allowed }: Task): Promise<Code> {
  const { code } = await compileModule(source, { loader: "ts", allowed });
  return { code: `import ${JSON.stringify(library)};\n${code}`, css: "" };
}

/** SPEC 2.3: the source is the app's code, not one character of it changed. */
export async function checkScript({ source, allowed }: Task): Promise<Code> {
  checkImports(source, allowed);
  return { code: source, css: "" };
}

/** An element is as good as a component. */
function mount(main: string): string {
  return `import { isValidElement as __isElement, createElement as __createElement } from "react";
import { createRoot as __createRoot } from "react-dom/client";
__createRoot(document.getElementById("core-app") ?? document.body).render(
  __isElement(${main}) ? ${main} : __createElement(${main}),
);
`;
}
