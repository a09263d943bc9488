import { afterAll, beforeAll, describe, expect, mock, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChild, type Child, type ChildOptions } from "../../runtime/child/child.ts";
import { ChildFault } from "../../runtime/child/child-process.ts";
import { createFiles } from "../../runtime/files/files.ts";
import { createLog } from "../../runtime/system/log.ts";
import { roomIn } from "../../runtime/system/room.ts";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { withExif, png } from "../../tests/fixtures/media-files.ts";
import { createPictures } from "./pictures/pictures.ts";
import { find } from "platform";
import { Media } from "./media.ts";
import sharp from "sharp";

let app: TestApp;
let dataDir: string;
/** Left half red, right half blue. */
let picture: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "corestead-pictures-"));
  app = await startTestApp({ env: { DATA_DIR: dataDir } });
  picture = await twoColours("red", "blue").jpeg({ quality: 95 }).toBuffer();
});
afterAll(async () => {
  await app.stop();
  await rm(dataDir, { recursive: true });
});

async function upload(name: string, content: Uint8Array<ArrayBuffer>) {
  const form = new FormData();
  form.append("file", new Blob([content]), name);
  form.append("is_public", "true");
  return (await app.post("/core/media.json", undefined, { raw: form })).json;
}
async function variant(id: string, name: string, headers = {}) {
  const response = await fetch(`${app.origin}/media/${id}/w/${name}`, { headers });
  const bytes = await response.bytes();
  return { status: response.status, headers: response.headers, bytes, text: new TextDecoder("latin1").decode(bytes) };
}
/** The plugin's own process, within other bounds. */
const resizing = (options: ChildOptions): Child => {
  const env = { BUN_JSC_forceRAMSize: "100000000", MIMALLOC_ARENA_EAGER_COMMIT: "0" };
  const made = { plugin: "media", name: "resize", log: createLog("error"), programs: async () => ({}) };
  return createChild({ ...made, options: { processes: 1, env, ...options } });
};
/** 600 x 400 points: the left half of one colour, the right half of another. */
const twoColours = (left: string, right: string) => {
  const half = (background: string) => ({ width: 300, height: 400, channels: 3, background }) as const;
  const onRight = { input: { create: half(right) }, left: 300, top: 0 };
  return sharp({ create: { ...half(left), width: 600 } }).composite([onRight]);
};
const decoded = async (bytes: Uint8Array) => {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
};
type Points = Awaited<ReturnType<typeof decoded>>;
function colourAt({ data, width, height }: Points, x: number, y: number): number[] {
  const at = (Math.floor(y * height) * width + Math.floor(x * width)) * 3;
  return [...data.subarray(at, at + 3)];
}
function pointOf(points: Points, x: number, y: number): string {
  const [red = 0, , blue = 0] = colourAt(points, x, y);
  return red > 200 ? "red" : blue > 200 ? "blue" : "other";
}

describe("a picture", () => {
  test.each(["webp", "avif", "jpeg"] as const)("is made smaller as %s, once for all who ask", async (format) => {
    const { id } = await upload("picture.jpg", picture);
    const [made, other] = await Promise.all([variant(id, `320.${format}`), variant(id, `320.${format}`)]);
    expect([made.status, made.headers.get("content-type"), other.bytes]).toEqual([200, `image/${format}`, made.bytes]);
    expect(made.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const image = await decoded(made.bytes);
    expect([image.width, image.height]).toEqual([320, 213]);
    expect([pointOf(image, 0.2, 0.5), pointOf(image, 0.8, 0.5)]).toEqual(["red", "blue"]);
    const tag = made.headers.get("etag") ?? "";
    expect((await variant(id, `320.${format}`, { "if-none-match": tag })).status).toBe(304);
    expect(await app.sql`select 1 from media_variants where variant = ${`320.${format}`}`).toHaveLength(1);
  });

  test("is documented in each format that it can have, with an example", async () => {
    const { paths } = (await app.get("/openapi.json")).json;
    const { content } = paths["/media/{id}/w/{variant}"].get.responses[200];
    expect(content).toEqual({
      "image/webp": { schema: { type: "string" }, example: "…" },
      "image/avif": { schema: { type: "string" }, example: "…" },
      "image/jpeg": { schema: { type: "string" }, example: "…" },
    });
    const { id } = await upload("picture.jpg", picture);
    // The harness compares each answer with its description.
    for (const format of ["webp", "avif", "jpeg"])
      expect((await app.get(`/media/${id}/w/160.${format}`)).status).toBe(200);
  });

  test("is turned as its EXIF says, of which nothing is left", async () => {
    // 6: the camera was turned, what is left in the file is above in the picture.
    const turned = await upload("turned.jpg", withExif(picture, 6, "<script>alert(1)</script>"));
    expect([turned.width, turned.height]).toEqual([400, 600]);
    const made = await variant(turned.id, "320.jpeg");
    const image = await decoded(made.bytes);
    expect([image.width, image.height]).toEqual([320, 480]);
    expect([pointOf(image, 0.5, 0.2), pointOf(image, 0.5, 0.8)]).toEqual(["red", "blue"]);
    expect(made.text).not.toContain("script");
    expect(made.text).not.toContain("Exif");
  });

  test("is not made larger than it is", async () => {
    const { id } = await upload("picture.jpg", picture);
    const image = await decoded((await variant(id, "2560.jpeg")).bytes);
    expect([image.width, image.height]).toEqual([600, 400]);
  });

  test.each(["webp", "avif", "jpeg"])("of four inks (CMYK) or of a wide gamut becomes sRGB as %s", async (format) => {
    const cases: [string, Uint8Array<ArrayBuffer>, number[]][] = [
      [
        "inks.jpg",
        await twoColours("white", "#208040").toColourspace("cmyk").jpeg({ quality: 95 }).toBuffer(),
        [32, 128, 64],
      ],
      // The green of sRGB, written in the numbers of Display P3.
      [
        "p3.jpg",
        await twoColours("white", "#00ff00").withIccProfile("p3").jpeg({ quality: 95 }).toBuffer(),
        [0, 255, 0],
      ],
      ["p3.png", await twoColours("white", "#00ff00").withIccProfile("p3").png().toBuffer(), [0, 255, 0]],
    ];
    for (const [name, content, expected] of cases) {
      const made = await variant((await upload(`${format}-${name}`, content)).id, `320.${format}`);
      expect([name, made.status]).toEqual([name, 200]);
      const colour = colourAt(await decoded(made.bytes), 0.8, 0.5);
      for (const [at, part] of expected.entries()) expect(Math.abs((colour[at] ?? -99) - part)).toBeLessThan(30);
      expect((await sharp(made.bytes).metadata()).icc).toBeUndefined();
    }
  });

  test("of 39 megapixels, within the documented limit, is made", async () => {
    const large = sharp({ create: { width: 7200, height: 5416, channels: 3, background: "#208040" } });
    const { id } = await upload("large.jpg", await large.jpeg({ quality: 50 }).toBuffer());
    expect((await variant(id, "2560.avif")).status).toBe(200);
  });

  test("that cannot be decoded has no other sizes any more once that is known", async () => {
    const { id, width } = await upload("broken.png", png(301, 301));
    expect([width, (await variant(id, "160.webp")).status]).toEqual([301, 422]);
    expect((await app.get(`/core/media/${id}.json`)).json).toMatchObject({ width: null, height: null });
  });

  describe("for which there is too little memory is 503, and is not blamed:", () => {
    const run = (answer: () => Promise<unknown>): Child => ({ run: answer, stop: async () => {} });
    const failed = (failure: string) => run(async () => ({ failure }));
    const crashed = (message: string) => run(() => Promise.reject(new ChildFault("crash", message)));
    const cases: [string, () => Child][] = [
      ["a process with a small bound", () => resizing({ memoryBytes: 400_000_000 })],
      ["a decoder", () => failed("VipsJpeg: Insufficient memory (case 4)")],
      [
        "an encoder",
        () => failed("heif: Encoder plugin generated an error: av1_create_context_and_bufferpool() failed"),
      ],
      ["a killed process", () => crashed("the process ended (SIGKILL)")],
      ["a process that used what it did not get", () => crashed("the process ended (SIGSEGV)")],
      ["an aborted process", () => crashed("the process ended (SIGABRT)")],
    ];
    let id = "";
    test.each(cases)("%s", async (_, childOf) => {
      // Its points are all needed before the first can be passed on.
      const large = sharp({ create: { width: 7200, height: 5416, channels: 3, background: "#208040" } });
      id ||= (await upload("needy.jpg", await large.jpeg({ quality: 50, progressive: true }).toBuffer())).id;
      const source = await find(Media, app.sql, 1, { id });
      if (!source) throw new Error("the picture is missing");
      const child = childOf();
      const refused = mock(async () => {});
      const rows = {
        get: async () => undefined,
        peek: () => undefined,
        invalidate: async () => {},
        clear: async () => {},
      };
      const pictures = createPictures(
        { sql: app.sql, cache: () => rows, contents: createFiles(join(dataDir, "media"), roomIn(dataDir, 0)) },
        {
          child,
          cacheFiles: createFiles(join(dataDir, "media/cache"), roomIn(dataDir, 0)),
          maxBytes: 1_000_000,
          refused,
        },
      );
      const answer = pictures.get(source, { width: 2560, format: "jpeg" });
      const error = await answer.catch((reason: unknown) => reason);
      expect(error).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
      await child.stop();
      expect(refused).not.toHaveBeenCalled();
    });
  });

  test("has no other sizes than these", async () => {
    const { id } = await upload("picture.jpg", picture);
    for (const name of ["321.webp", "640.png", "640", "0640.webp", "640.webp.webp"])
      expect([name, (await variant(id, name)).status]).toEqual([name, 404]);
  });

  test("of 30,000 x 30,000 points, one that is damaged, one that moves and a text are refused", async () => {
    const animated = new Uint8Array([...png(9, 9), 0, 0, 0, 0, 0, 0, 0, 8, ...new TextEncoder().encode("acTL")]);
    const cases: [string, Uint8Array<ArrayBuffer>, string][] = [
      ["huge.png", png(30_000, 30_000), "the file has more than 40000000 points"],
      ["cut.png", png(300, 300), "the picture cannot be decoded"],
      ["moves.png", animated, "the file is animated, and is not resized"],
      ["text.txt", new TextEncoder().encode("text"), "the file is no picture of a kind that can be resized"],
    ];
    for (const [name, content, says] of cases) {
      const { status, text } = await variant((await upload(name, content)).id, "160.webp");
      expect([name, status, text]).toEqual([name, 422, expect.stringContaining(says)]);
    }
  });

  test("that is cut off is shown as far as it goes", async () => {
    const { id } = await upload("half.jpg", picture.slice(0, picture.length / 2));
    expect((await variant(id, "160.webp")).status).toBe(200);
  });

  test("is made again if the cache has lost it", async () => {
    const { id } = await upload("picture.jpg", picture);
    const first = await variant(id, "160.jpeg");
    const [row] = await app.sql<{ content: string }[]>`select content from media_variants where variant = '160.jpeg'`;
    await createFiles(join(dataDir, "media/cache"), roomIn(dataDir, 0)).remove(row?.content ?? "");
    expect((await variant(id, "160.jpeg")).bytes).toEqual(first.bytes);
  });
});
