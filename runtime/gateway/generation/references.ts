import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { hasCredentials } from "../../http/client/shown-url.ts"
import { type ReadFile, usable } from "../../http/server/client-trust.ts"
import { certificatesIn } from "../../plan/certificate-pair.ts"
import { fileReason } from "../../plan/file-reason.ts"
import type { Plan } from "../../plan/plan.ts"
import type { LoadText, Reference } from "../../plan/text.ts"
import { markOf, type SeenFile } from "./file-watch.ts"
import { LoadError } from "./load-error.ts"

/** The sources of external values. */
export interface Outside {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The folder for relative file names in the plan. */
  readonly folder: string
}

/** The values and secrets of a plan, read. */
export interface References {
  readonly values: ReadonlyMap<string, string>
  readonly secrets: ReadonlyMap<string, string>
  /** Absolute paths of the files that were read: when one changes, the plan must be provisioned again. */
  readonly files: readonly SeenFile[]
  /** Joins constants and named values to a text. */
  text(text: LoadText): string
}

/**
 * Reads the values and the given secrets of a plan.
 * @throws LoadError with all unset variables and all unreadable files, and the places that use them
 */
export async function resolveReferences(
  plan: Pick<Plan, "plan" | "origins">,
  wanted: ReadonlySet<string>,
  outside: Outside,
): Promise<References> {
  const reader = new Reader(plan, outside)
  const secrets = new Map<string, string>()
  for (const [name, reference] of Object.entries(plan.plan.secrets)) {
    if (!wanted.has(name)) continue
    const text = await reader.read(reference, `secrets.${name}`)
    if (text === "")
      reader.problem(`secrets.${name}`, `the secret \`${name}\` is empty; set it in ${describe(reference)}`)
    else if (text !== undefined) secrets.set(name, text)
  }
  const outer = new Map<string, string>()
  for (const [name, value] of Object.entries(plan.plan.values)) {
    if (!("from" in value)) continue
    const text = await reader.read(value.from, `values.${name}`)
    if (text !== undefined && hasCredentials(text)) reader.problem(`values.${name}`, credentialsIn(name))
    else if (text !== undefined) outer.set(name, text)
  }
  if (reader.problems.length > 0) throw new LoadError(reader.problems)
  const values = new Values(plan, outer)
  for (const name of Object.keys(plan.plan.values)) values.of(name, [])
  return { values: values.known, secrets, files: reader.files, text: (text) => values.join(text, []) }
}

/** No place accepts such a URL, and values are in many messages. */
const credentialsIn = (name: string) =>
  `the value \`${name}\` is a URL with a user or a password, which logs and messages could show; remove them, and use \`authenticate\` or a header with a secret`

/**
 * Reads certificate authorities from a file named in a plan, and adds it to `files`. `what`: the user of the file.
 * @throws Error with the name of the user of the file
 */
export async function readAuthorities(
  outside: Outside,
  what: string,
  name: string,
  files: SeenFile[],
): Promise<string> {
  try {
    return usable(await readPemFile(outside, name, files), ({ text }) => {
      certificatesIn(text)
      return text
    })
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`)
  }
}

/**
 * Reads a PEM file named in a plan, and adds it to `files`.
 * @throws Error with the name of the file
 */
export async function readPemFile(outside: Outside, name: string, files: SeenFile[]): Promise<ReadFile> {
  try {
    const { file, text } = await readPlanFile(outside, name)
    files.push(file)
    return { file: name, text }
  } catch (error) {
    throw new Error(`\`${name}\` cannot be read: ${fileReason(error)}`)
  }
}

/** Reads a file named in a plan as text. */
export async function readPlanFile(
  outside: Outside,
  name: string,
): Promise<{ file: SeenFile; text: string }> {
  const path = resolve(outside.folder, name)
  const mark = await markOf(path)
  return { file: { path, mark }, text: await readFile(path, "utf8") }
}

/** Reads everything that a plan refers to. All problems are collected, so that an operator sees them at once. */
class Reader {
  readonly problems: string[] = []
  readonly files: SeenFile[] = []
  readonly #plan: Pick<Plan, "plan" | "origins">
  readonly #outside: Outside

  constructor(plan: Pick<Plan, "plan" | "origins">, outside: Outside) {
    this.#plan = plan
    this.#outside = outside
  }

  /** The text of a reference; undefined after a problem. */
  async read(reference: Reference, place: string): Promise<string | undefined> {
    if ("env" in reference) {
      const text = this.#outside.environment[reference.env] ?? reference.default
      if (text === undefined)
        this.problem(place, `the environment variable ${reference.env} is not set; set it for this process`)
      return text
    }
    try {
      const { file, text } = await readPlanFile(this.#outside, reference.file)
      this.files.push(file)
      // Editors and `echo` end files with a newline; secrets do not end with one.
      return text.replace(/\r?\n$/, "")
    } catch (error) {
      this.problem(place, `the file \`${reference.file}\` cannot be read: ${fileReason(error)}`)
      return undefined
    }
  }

  problem(place: string, message: string): void {
    const origin = this.#plan.origins[place]
    this.problems.push(origin === undefined ? message : `${origin}: ${message}`)
  }
}

function describe(reference: Reference): string {
  return "env" in reference ? `environment variable ${reference.env}` : `file \`${reference.file}\``
}

/** A value may refer to other values; cycles are refused here and in the compiler. */
class Values {
  readonly known: Map<string, string>
  readonly #plan: Pick<Plan, "plan" | "origins">

  constructor(plan: Pick<Plan, "plan" | "origins">, outer: Map<string, string>) {
    this.#plan = plan
    this.known = outer
  }

  /** The text of a value that is made from others. `above`: the values it was reached from. */
  of(name: string, above: readonly string[]): string {
    const known = this.known.get(name)
    if (known !== undefined) return known
    const value = this.#plan.plan.values[name]
    if (value === undefined || "from" in value) throw new LoadError([`there is no value \`${name}\``])
    if (above.includes(name)) throw new LoadError([`the value \`${name}\` refers to itself`])
    const text = this.join(value.text, [...above, name])
    this.known.set(name, text)
    return text
  }

  join(text: LoadText, above: readonly string[]): string {
    if (typeof text === "string") return text
    const joined = text.text
      .map((part) => (typeof part === "string" ? part : this.of(part.value, above)))
      .join("")
    if (hasCredentials(joined)) throw new LoadError(["a URL must not contain credentials"])
    return joined
  }
}
