/** Reads files of people in a guarded process: what they contain may be made to take any time or memory. */
import { FileFault } from "./fault.ts";
import { previewOf, type Preview, type PreviewOptions } from "./preview.ts";

/** What the process is asked for; `bytes` are in base64. */
export type FileTask = {
  readonly do: "preview";
  readonly bytes: string;
  readonly isComplete: boolean;
  readonly options: PreviewOptions;
};

export type FileResult =
  | { readonly preview: Preview }
  | { readonly fault: { readonly field: string; readonly message: string } };

export default async function read(input: unknown): Promise<FileResult> {
  const task = input as FileTask; // files.ts makes it
  const bytes = Uint8Array.fromBase64(task.bytes);
  try {
    return { preview: await previewOf(bytes, task.isComplete, task.options) };
  } catch (error) {
    if (error instanceof FileFault) return { fault: { field: error.field, message: error.message } };
    throw error;
  }
}
