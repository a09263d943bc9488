/** Plain HTML pages are served unchanged (behaviour 2.3). First the imports of their module scripts are checked. */
import { checkImports } from "./module.ts";
import { mistake, Mistakes, type Code, type Task } from "./task.ts";

const maxScripts = 50;

export async function checkPage({ source, allowed }: Task): Promise<Code> {
  const found: string[] = [];
  for (const { text, line, column } of moduleScripts(source)) {
    try {
      checkImports(text, allowed);
    } catch (error) {
      if (!(error instanceof Mistakes)) throw error;
      for (const one of error.mistakes) found.push(moved(one, line, column));
    }
  }
  if (found.length > 0) throw new Mistakes(found);
  return { code: source, css: "" };
}

interface ModuleScript {
  readonly text: string;
  /** Where it begins, both counted from 0. */
  readonly line: number;
  readonly column: number;
}

/** The inline scripts; the page's policy refuses all others. It reads the text once, whatever it contains. */
function moduleScripts(source: string): ModuleScript[] {
  const scripts: ModuleScript[] = [];
  const next = /<!--|<script(?=[\s/>])/gi;
  for (let match = next.exec(source); match; match = next.exec(source)) {
    if (match[0] === "<!--") {
      const end = source.indexOf("-->", next.lastIndex);
      if (end < 0) break;
      next.lastIndex = end;
      continue;
    }
    const start = tagEnd(source, next.lastIndex);
    if (start === 0) break;
    const closing = /<\/script(?=[\s/>])/gi;
    closing.lastIndex = start;
    const end = closing.exec(source)?.index ?? source.length;
    const attributes = source.slice(next.lastIndex, start);
    if (/\btype\s*=\s*["']?module\b/i.test(attributes) && !/\ssrc\s*=/i.test(attributes)) {
      const lines = source.slice(0, start).split(/\r\n|\r|\n/);
      scripts.push({ text: source.slice(start, end), line: lines.length - 1, column: lines.at(-1)?.length ?? 0 });
    }
    if (scripts.length > maxScripts) throw new Mistakes([mistake(1, 1, `at most ${maxScripts} module scripts`)]);
    next.lastIndex = end;
  }
  return scripts;
}

/** The offset after the `>` of the tag whose attributes begin at `from`; 0 if the tag is not closed. */
function tagEnd(source: string, from: number): number {
  for (let at = from; at < source.length; at++) {
    const character = source[at];
    if (character === ">") return at + 1;
    if (character !== '"' && character !== "'") continue;
    at = source.indexOf(character, at + 1);
    if (at < 0) return 0;
  }
  return 0;
}

function moved(text: string, line: number, column: number): string {
  const [, itsLine, itsColumn, message = ""] = /^(\d+):(\d+) ([\s\S]*)$/.exec(text) ?? [];
  return mistake(Number(itsLine) + line, Number(itsColumn) + (itsLine === "1" ? column : 0), message);
}
