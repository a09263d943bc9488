/**
 * Writes NOTICE: whose work the executable contains, under which licence. tests/notice.test.ts says when it is stale.
 *
 *     bun scripts/notice.ts
 */
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeRuntimes } from "./runtimes.ts";
import { makeStudio } from "./studio.ts";

const root = resolve(import.meta.dir, "..");
/** These packages have no licence file. */
const withoutFile: Readonly<Record<string, string>> = {
  "@tokenizer/token": "MIT licence, Copyright (c) Borewit. The text is that of strtok3.",
  "agent-base": "MIT licence, Copyright (c) 2013 Nathan Rajlich. The text is that of https-proxy-agent.",
  "https-proxy-agent": "MIT licence, Copyright (c) 2013 Nathan Rajlich. Its text stands in its README.",
  "is-reference": "MIT licence, Copyright (c) Rich Harris. The text is that of svelte.",
  "locate-character": "MIT licence, Copyright (c) Rich Harris. The text is that of svelte.",
  saxes:
    'ISC licence, Copyright (c) Isaac Z. Schlueter and contributors, and Louis-Dominique Dubeau. Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies. The software is provided "as is" and the author disclaims all warranties.',
  postgres: "The Unlicense: its author, Rasmus Porsager, gives it to the public domain (https://unlicense.org).",
};

/** The packages that the executable carries whole, beside those of its platform (scripts/notice-native.txt). */
export const sharpParts = ["detect-libc", "semver", "@img/colour"];

/** Packages distributed as one file contain others, which no bundler sees. */
const inside: Readonly<Record<string, readonly string[]>> = {
  "node_modules/@vue/compiler-sfc": [
    "@babel/parser",
    "@jridgewell/sourcemap-codec",
    "entities",
    "estree-walker",
    "magic-string",
    "nanoid",
    "picocolors",
    "postcss",
    "source-map-js",
  ],
  "node_modules/phaser": ["eventemitter3"],
};

/** Some of those are not installed here. */
const insideOnly = `Inside compiler-sfc.esm-browser.js
----------------------------------

The file of @vue/compiler-sfc also holds, beside the packages that stand here by name: the compiler's parts @vue/compiler-core,
@vue/compiler-dom and @vue/compiler-ssr (MIT, as @vue/compiler-sfc); source-map (BSD-3-Clause, Copyright (c) 2009-2011, Mozilla
Foundation and contributors; the text is that of source-map-js); and under the MIT licence, whose text is that of postcss:
base64-js and buffer (Copyright (c) Feross Aboukhadijeh and other contributors), cssesc and punycode (Copyright Mathias Bynens
<https://mathiasbynens.be/>), hash-sum (Copyright (c) Nicolas Bevacqua), merge-source-map (Copyright (c) keik),
postcss-selector-parser (Copyright (c) Ben Briggs), and path, url and util of Node.js (Copyright Joyent, Inc. and other Node
contributors). ieee754 stands here by name.`;

if (import.meta.main) await Bun.write(join(root, "NOTICE"), await notice());

/** The text for the installed packages. */
export async function notice(): Promise<string> {
  const native = await Bun.file(join(import.meta.dir, "notice-native.txt")).text();
  const packages = await Promise.all((await bundledPackages()).map(section));
  return [native.trimEnd(), ...packages, insideOnly].join("\n\n\n") + "\n";
}

/** The folders of the npm packages with anything in the bundle, by name. */
export async function bundledPackages(): Promise<string[]> {
  const { metafile } = await Bun.build({ entrypoints: [join(root, "plugins/main.ts")], target: "bun", metafile: true });
  const folders = Object.keys(metafile?.inputs ?? {}).flatMap(
    (file) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
  );
  await makeRuntimes();
  await makeStudio();
  const found = [...folders, ...(await packagesIn("runtimes")), ...(await packagesIn("studio"))];
  found.push(...["sharp", ...sharpParts].map((name) => `node_modules/${name}`));
  const held = found.flatMap((folder) => inside[folder] ?? []).map((name) => `node_modules/${name}`);
  return [...new Set([...found, ...held])].toSorted();
}

/** Reads the packages in a bundle for browsers from its manifest. */
async function packagesIn(name: string): Promise<string[]> {
  const { packages }: { packages: string[] } = await Bun.file(join(root, `dist/${name}/manifest.json`)).json();
  return packages;
}

async function section(folder: string): Promise<string> {
  const path = join(root, folder);
  const { name, version, license } = await Bun.file(join(path, "package.json")).json();
  const file = (await readdir(path)).find((entry) => /^licen[cs]e(\.\w+)?$/i.test(entry));
  const text = file ? await Bun.file(join(path, file)).text() : withoutFile[name];
  if (text === undefined) throw new Error(`${name} has no licence file: add its licence to scripts/notice.ts`);
  const title = `${name} ${version} (${license})`;
  return `${title}\n${"-".repeat(title.length)}\n\n${text.replaceAll("\r\n", "\n").trim()}`;
}
