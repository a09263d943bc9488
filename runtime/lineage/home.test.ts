import { describe, expect, test } from "bun:test";
import { isSameHome, mountedAt, type Home } from "./home.ts";

const home: Home = {
  database: "7123/16384",
  file: "131 1760000000000",
  path: "/var/lib/corestead/data",
  mount: "/volumes/a",
  machine: "m1",
};
const external: Home = { database: "7123/16384", file: "", path: "", mount: "", machine: "" };

describe("a database is where it was", () => {
  const same: [string, Partial<Home>][] = [
    ["after a restart", {}],
    ["in a folder that was renamed", { path: "/srv/data" }],
    ["on a disk that is mounted elsewhere, or in another machine", { path: "/mnt/data", mount: "/b", machine: "m2" }],
    ["on a file system that numbers its files anew", { file: "77 1760000000001" }],
  ];
  test.each(same)("%s", (_, now) => expect(isSameHome(home, { ...home, ...now })).toBe(true));

  const copies: [string, Partial<Home>][] = [
    ["beside the original", { file: "132 1", path: "/var/lib/corestead/copy" }],
    ["in another volume at the same path of a container", { file: "132 1", mount: "/volumes/b" }],
    ["at the same path of another machine", { file: "132 1", machine: "m2" }],
    ["in another database of the server", { database: "7123/16385" }],
    ["on another server", { database: "7999/16384" }],
  ];
  test.each(copies)("but not %s", (_, now) => expect(isSameHome(home, { ...home, ...now })).toBe(false));

  test("on an external server, which has no folder here, from any host", () => {
    expect(isSameHome(external, external)).toBe(true);
    expect(isSameHome(external, { ...external, database: "7123/16385" })).toBe(false);
  });
});

test("the folder that is mounted at a path, from what Linux says", () => {
  const mountinfo = String.raw`21 1 8:1 / / rw - ext4 /dev/sda1 rw
30 21 8:1 /volumes/a /var/lib/corestead rw - ext4 /dev/sda1 rw
31 21 8:2 /x\040y /mnt/with\040space rw - ext4 /dev/sdb rw
32 21 8:3 / /var/lib/core rw - ext4 /dev/sdc rw
33 31 8:4 /later /mnt/with\040space rw - ext4 /dev/sdd rw`;
  const found = (path: string) => mountedAt(path, mountinfo);
  expect(["/var/lib/corestead/data", "/var/lib/corestead", "/srv", "/mnt/with space/d"].map(found)).toEqual([
    "/volumes/a",
    "/volumes/a",
    "/",
    "/later",
  ]);
  expect(mountedAt("/srv", "")).toBe("");
});
