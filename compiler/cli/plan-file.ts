import { closeSync, openSync, readSync } from "node:fs"
import { resolve } from "node:path"
import { fileReason } from "../../runtime/plan/file-reason.ts"
import { duplicateKey } from "../../runtime/plan/json-scan.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { type PlanProblem, readPlan, readSealedPlan } from "../../runtime/plan/read.ts"
import type { SealedPlan } from "../../runtime/plan/seal.ts"
import { decode } from "../core/decode.ts"
import { shown } from "../core/shown.ts"
import { CliError } from "./command.ts"
import type { Io } from "./io.ts"

/** A plan from a file; `sealed` is undefined for a file without a seal. */
export interface PlanFile {
  readonly plan: Plan
  readonly sealed: SealedPlan | undefined
}

/** Larger than the largest plan that the control API accepts. */
const bytesMax = 64 * 1024 * 1024
const problemsShownMax = 10

/** Reads a plan, with or without a seal, and validates it completely. Problems are a `CliError` with their places in the JSON. */
export function readPlanFile(io: Io, path: string): PlanFile {
  const text = readText(io, path)
  const json = parse(path, text)
  // `JSON.parse` takes the last of two equal keys; another reader may take the first. A plan must have one meaning.
  const twice = duplicateKey(text, json)
  if (twice !== undefined)
    throw notAPlan(path, [
      { path: "", message: `line ${twice.line} repeats the key \`${shown(twice.key)}\` in one object` },
    ])
  if (typeof json === "object" && json !== null && "sealed" in json) {
    const read = readSealedPlan(json)
    // A seal is optional: a plan for `serve --plan` needs none.
    if ("problems" in read) throw notAPlan(path, read.problems)
    return { plan: read.sealed.plan, sealed: read.sealed }
  }
  const read = readPlan(json)
  if ("problems" in read) throw notAPlan(path, read.problems)
  return { plan: read.plan, sealed: undefined }
}

/** Reads a plan file, up to the largest size that a plan can have. */
function readText(io: Io, path: string): string {
  let bytes: Uint8Array
  try {
    bytes = readBounded(resolve(io.cwd, path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT")
      throw new CliError(`${path} does not exist`, "Create a plan with `sallyport plan --out FILE`.")
    if (code === "EISDIR")
      throw new CliError(`${path} is a folder`, "Name a file that `sallyport plan --out FILE` has written.")
    throw new CliError(
      `${path} cannot be read: ${fileReason(error)}`,
      "Name a file that `sallyport plan --out FILE` has written.",
    )
  }
  const written = "Name a file that `sallyport plan --out FILE` has written."
  if (bytes.length > bytesMax)
    throw new CliError(`${path} is larger than a plan can be (${bytesMax} bytes)`, written)
  // Bytes that are no UTF-8 are refused instead of replaced: the digest would be that of another text.
  const decoded = decode(bytes)
  if (decoded.text === undefined)
    throw new CliError(`${path} is not a plan: the file ${decoded.detail}`, written)
  return decoded.text
}

/** Reads at most one byte more than a plan can have: a device is endless, and a pipe (`<(…)`) has no size. */
function readBounded(path: string): Buffer {
  const descriptor = openSync(path, "r")
  try {
    const chunks: Buffer[] = []
    for (let left = bytesMax + 1; left > 0; ) {
      const chunk = Buffer.allocUnsafe(Math.min(left, 1024 * 1024))
      const length = readSync(descriptor, chunk)
      if (length === 0) break
      chunks.push(chunk.subarray(0, length))
      left -= length
    }
    return Buffer.concat(chunks)
  } finally {
    closeSync(descriptor)
  }
}

/** A configuration file given as a plan is a frequent mistake, so the help names the right option. */
function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CliError(
      `${path} is not a plan: it is not JSON (${(error as Error).message})`,
      path.endsWith(".conf")
        ? "Use --config for a configuration file, or create a plan with `sallyport plan --out FILE`."
        : "Name a file that `sallyport plan --out FILE` has written.",
    )
  }
}

/** The first problems of a file that is not a plan. */
function notAPlan(path: string, problems: readonly PlanProblem[]): CliError {
  const shown = problems
    .slice(0, problemsShownMax)
    .map(({ path: at, message }) => `\n  ${at === "" ? "the file" : at}: ${message}`)
  const more = problems.length > problemsShownMax ? `\n  and ${problems.length - problemsShownMax} more` : ""
  return new CliError(
    `${path} is not a valid plan:${shown.join("")}${more}`,
    "Create it again: `sallyport plan --out FILE`.",
  )
}
