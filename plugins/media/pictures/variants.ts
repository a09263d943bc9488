/** Which sizes and formats of a picture there are: few, so that nobody can fill the cache or keep the server busy. */

export const widths = [160, 320, 640, 960, 1280, 1920, 2560] as const;
export const formats = ["webp", "avif", "jpeg"] as const;
export type Format = (typeof formats)[number];

export interface Variant {
  readonly width: number;
  readonly format: Format;
}

/** A picture with more points is not decoded. */
export const maxPixels = 40_000_000;
/** Nor is a larger file. */
export const maxSourceBytes = 30_000_000;

const sources = new Set(["image/jpeg", "image/png", "image/webp", "image/avif"]);

export interface Picture {
  readonly mime: string;
  readonly size: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly isAnimated: boolean;
}

/** Why there are no other sizes of a file, or undefined. */
export function whyNot({ mime, size, width, height, isAnimated }: Picture): string | undefined {
  if (!sources.has(mime)) return "is no picture of a kind that can be resized";
  if (isAnimated) return "is animated, and is not resized";
  if (width === null || height === null) return "is damaged";
  if (width * height > maxPixels) return `has more than ${maxPixels} points`;
  if (size > maxSourceBytes) return `has more than ${maxSourceBytes} bytes`;
  return undefined;
}

/** The widths in which a picture is offered: those that are smaller than itself, or the smallest there is. */
export function widthsOf(picture: Picture): readonly number[] {
  const { width } = picture;
  if (whyNot(picture) !== undefined) return [];
  const smaller = widths.filter((one) => one <= (width ?? 0));
  return smaller.length > 0 ? smaller : [widths[0]];
}

/** `640.webp` */
export function variantOf(text: string): Variant | undefined {
  const [, width, format] = /^([1-9]\d{2,3})\.(webp|avif|jpeg)$/.exec(text) ?? [];
  const known = widths.find((one) => one === Number(width));
  const found = formats.find((one) => one === format);
  return known !== undefined && found ? { width: known, format: found } : undefined;
}
