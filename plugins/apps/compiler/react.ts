/** React: TypeScript or JavaScript, with JSX. */
import { compileModule } from "./module.ts";
import { callsAtOnce, listIn, nodeIn, nodesOf, type Node, type Program } from "./tree.ts";
import type { Code, Task } from "./task.ts";

export async function compileReact({ source, allowed }: Task): Promise<Code> {
  const { code, main, program, lines = [] } = await compileModule(source, { loader: "tsx", allowed });
  const component = componentOf(program, main);
  // Added to the first line of the code, so that all lines keep their numbers.
  const started = `${missingImports(code, program)}${code}`;
  return { code: component === undefined ? started : `${started}\n${mount(component)}`, css: "", lines };
}

/** The component that the page mounts: the default export, else `App`; nothing if the source mounts something itself. */
function componentOf(program: Program, main: string | undefined): string | undefined {
  if (main !== undefined) return program.body.some((one) => callsAtOnce(one, mounting)) ? undefined : main;
  return program.body.some(declaresApp) && !nodesOf(program).some(({ name }) => mounting.has(name)) ? "App" : undefined;
}

const mounting: ReadonlySet<unknown> = new Set(["createRoot", "hydrateRoot"]);

function declaresApp(statement: object): boolean {
  const node = statement as Node; // Babel's
  if (node.type === "ExportNamedDeclaration") {
    const declaration = nodeIn(node["declaration"]);
    return declaration !== undefined && declaresApp(declaration);
  }
  const declared = node.type === "VariableDeclaration" ? listIn(node["declarations"]) : [node];
  return /^(Variable|Function|Class)Declaration$/.test(node.type) && declared.some((one) => isNamed(one, "App"));
}

/** The globals that pages with a React script tag have. */
const globals: Readonly<Record<string, string>> = {
  React: `import React from "react";`,
  ReactDOM:
    `import * as __dom from "react-dom"; import * as __domClient from "react-dom/client"; ` +
    `const ReactDOM = { ...__dom, ...__domClient };`,
};

function missingImports(code: string, program: Program): string {
  if (!code.includes("React")) return "";
  const used = new Set<unknown>();
  const declared = new Set<string>();
  for (const node of nodesOf(program)) {
    if (node.type === "Identifier") used.add(node["name"]);
    for (const name of Object.keys(globals)) if (isNamed(node, name)) declared.add(name);
  }
  const missing = Object.keys(globals).filter((name) => used.has(name) && !declared.has(name));
  return missing.map((name) => `${globals[name]} `).join("");
}

/** Whether the node declares the name: an import, a variable, a function, a class. */
function isNamed(value: unknown, name: string): boolean {
  const node = nodeIn(value);
  return nodeIn(node?.["id"] ?? node?.["local"])?.["name"] === name;
}

/** The default export may be an element instead of a component. */
function mount(main: string): string {
  return `import { isValidElement as __isElement, createElement as __createElement } from "react";
import { createRoot as __createRoot } from "react-dom/client";
__createRoot(document.getElementById("core-app") ?? document.body).render(
  __isElement(${main}) ? ${main} : __createElement(${main}),
);
`;
}
