/** The codecs of Squoosh, as WebAssembly: each is loaded when it is first asked for, and has memory of its own. */
import { generatedFile } from "platform";
import type { Format } from "./variants.ts";

const files = {
  avifDecoder: "@jsquash/avif/codec/dec/avif_dec.wasm",
  avifEncoder: "@jsquash/avif/codec/enc/avif_enc.wasm",
  jpegDecoder: "@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm",
  jpegEncoder: "@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm",
  pngCodec: "@jsquash/png/codec/pkg/squoosh_png_bg.wasm",
  resizer: "@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm",
  webpDecoder: "@jsquash/webp/codec/dec/webp_dec.wasm",
  webpEncoder: "@jsquash/webp/codec/enc/webp_enc_simd.wasm",
};
/** What the executable has to carry. */
export const codecFiles: readonly string[] = Object.values(files);

type Decode = (bytes: ArrayBuffer) => Promise<ImageData>;
type Encode = (image: ImageData) => Promise<ArrayBuffer>;

/** Browsers have it, and the codecs expect it. */
class Points {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;

  constructor(data: Uint8ClampedArray, width: number, height: number) {
    this.data = data;
    this.width = width;
    this.height = height;
  }
}
Object.assign(globalThis, { ImageData: Points });

async function compiled(name: keyof typeof files): Promise<WebAssembly.Module> {
  const file = files[name];
  return WebAssembly.compile(await generatedFile(file, () => new URL(import.meta.resolve(file))));
}

const decoders: Readonly<Record<string, Decode>> = {
  "image/jpeg": async (bytes) => {
    const codec = await import("@jsquash/jpeg/decode.js");
    await codec.init(await compiled("jpegDecoder"));
    // It turns the picture.
    return codec.default(bytes, { preserveOrientation: true });
  },
  "image/png": async (bytes) => {
    const codec = await import("@jsquash/png/decode.js");
    await codec.init(await compiled("pngCodec"));
    return codec.default(bytes);
  },
  "image/webp": async (bytes) => {
    const codec = await import("@jsquash/webp/decode.js");
    await codec.init(await compiled("webpDecoder"));
    return codec.default(bytes);
  },
  "image/avif": async (bytes) => {
    const codec = await import("@jsquash/avif/decode.js");
    await codec.init(await compiled("avifDecoder"));
    const image = await codec.default(bytes);
    if (!image) throw new Error("no picture in it");
    return image;
  },
};

const encoders: Readonly<Record<Format, Encode>> = {
  jpeg: async (image) => {
    const codec = await import("@jsquash/jpeg/encode.js");
    await codec.init(await compiled("jpegEncoder"));
    return codec.default(image, { quality: 80 });
  },
  webp: async (image) => {
    const codec = await import("@jsquash/webp/encode.js");
    await codec.init(await compiled("webpEncoder"));
    return codec.default(image, { quality: 80 });
  },
  avif: async (image) => {
    const codec = await import("@jsquash/avif/encode.js");
    await codec.init(await compiled("avifEncoder"));
    return codec.default(image, { quality: 55, speed: 8 });
  },
};

export const load = {
  decoder(mime: string): Decode {
    const decode = decoders[mime];
    if (!decode) throw new Error(`no codec for ${mime}`);
    return decode;
  },
  encoder: (format: Format): Encode => encoders[format],
  async smaller(image: ImageData, width: number): Promise<ImageData> {
    const { default: resize, initResize } = await import("@jsquash/resize");
    await initResize(await compiled("resizer"));
    const height = Math.max(1, Math.round((image.height * width) / image.width));
    return resize(image, {
      width,
      height,
      method: "lanczos3",
      fitMethod: "stretch",
      premultiply: true,
      linearRGB: false,
    });
  },
};
