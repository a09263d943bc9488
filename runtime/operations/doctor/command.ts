/** Prints what `corestead doctor` finds; returns the exit code. */
import { versionText } from "../../plugin/facts.ts";
import { writeOutput } from "../../system/output.ts";
import { doctor, type DoctorOptions } from "./doctor.ts";
import { findingLines } from "../../plugin/finding.ts";

export async function runDoctor(options: DoctorOptions, { json }: { json: boolean }): Promise<number> {
  const findings = await doctor(options);
  const has = (wanted: string) => findings.some(({ state }) => state === wanted);
  const state = has("fail") ? "fail" : has("warn") ? "warn" : "ok";
  const text = json
    ? JSON.stringify({ version: versionText, state, findings }, undefined, 2)
    : findingLines(findings).join("\n");
  writeOutput(`${text}\n`);
  return state === "fail" ? 1 : 0;
}
