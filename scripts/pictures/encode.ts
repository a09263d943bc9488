/** Writes a picture's points as AVIF, or as PNG to look at. */
import sharp from "sharp";
import type { Points } from "./develop.ts";

export const avif = (points: Points, quality: number): Promise<Buffer> =>
  pictureOf(points).avif({ quality, effort: 5 }).toBuffer();

export const png = (points: Points): Promise<Buffer> => pictureOf(points).png().toBuffer();

const pictureOf = ({ data, width, height }: Points) => sharp(data, { raw: { width, height, channels: 4 } });
