import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readFolder, readTextFile, writeFolder } from "./folder.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "corestead-folder-"));
});
afterAll(() => rm(root, { recursive: true }));

let number = 0;
async function folderOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = join(root, `${++number}`);
  await mkdir(folder);
  for (const [path, text] of Object.entries(files)) await Bun.write(join(folder, path), text);
  return folder;
}

describe("a folder of texts", () => {
  test("is read whole, but for hidden files", async () => {
    const folder = await folderOf({ "b.txt": "ż\r\n", "a/c/d.txt": "", ".git/x": "no", "a/.y": "no" });
    expect([...(await readFolder(folder))]).toEqual([
      ["a/c/d.txt", ""],
      ["b.txt", "ż\r\n"],
    ]);
  });

  test("is refused where it is too large, too deep, no text or leads elsewhere", async () => {
    const folder = await folderOf({ "a.txt": "12345", "b.txt": "12345", "c/d/e.txt": "" });
    expect(readFolder(folder, { maxFileBytes: 4 })).rejects.toThrow("a.txt has more than 4 bytes");
    expect(readFolder(folder, { maxBytes: 9 })).rejects.toThrow("more than 9 bytes together");
    expect(readFolder(folder, { maxFiles: 2 })).rejects.toThrow("more than 2 files");
    expect(readFolder(folder, { maxDepth: 2 })).rejects.toThrow("nested too deeply");
    expect(readFolder(await folderOf({ x: new Uint8Array([0xff]) }))).rejects.toThrow("x is not UTF-8 text");
    const linked = await folderOf({});
    await symlink(folder, join(linked, "link"));
    expect(readFolder(linked)).rejects.toThrow("link is neither a file nor a folder");
    expect(readTextFile(join(folder, "none"))).rejects.toThrow("there is no file");
  });

  test("is written as asked: only what differs, and only what is ours is removed", async () => {
    const folder = await folderOf({ "same.txt": "1", "old.txt": "2", "theirs.md": "3" });
    const files = new Map([
      ["same.txt", "1"],
      ["in/new.txt", "4"],
    ]);
    const done = await writeFolder(folder, files, (path) => path.endsWith(".txt"));
    expect(done).toEqual({ written: ["in/new.txt"], removed: ["old.txt"] });
    expect((await readdir(folder)).toSorted()).toEqual(["in", "same.txt", "theirs.md"]);
    expect(await Bun.file(join(folder, "in/new.txt")).text()).toBe("4");
  });

  test.each(["../x", "/etc/x", "a/../../x", "a//b", "", ".hidden", "a\\b", "a\0b", "a/./b"])(
    "is not left by the path %p",
    async (path) => {
      const folder = await folderOf({});
      expect(writeFolder(folder, new Map([[path, "x"]]), () => false)).rejects.toThrow(
        "is not a path within the folder",
      );
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test("writes nothing through a link", async () => {
    const outside = await folderOf({});
    const folder = await folderOf({});
    await symlink(outside, join(folder, "in"));
    expect(writeFolder(folder, new Map([["in/x.txt", "x"]]), () => false)).rejects.toThrow(
      "neither a file nor a folder",
    );
    expect(await readdir(outside)).toEqual([]);
    expect(await readlink(join(folder, "in"))).toBe(outside);
  });
});
