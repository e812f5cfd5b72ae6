import { statSync } from "node:fs"
import { basename, dirname, isAbsolute, relative, resolve, sep } from "node:path"
import type { Files, GlobResult, ReadResult } from "../core/files.ts"
import { isPattern } from "../core/glob.ts"
import { CliError } from "./command.ts"
import { WatchedFiles } from "./dev/watched-files.ts"
import type { Io } from "./io.ts"

/** Files below one folder, including those with tests: store files, and tests of gateways. Paths are relative to the user's current folder. */
export interface TestFolder {
  readonly files: Files
  /** Paths of the files with tests. */
  readonly paths: readonly string[]
  /** Whether a file that was read, or looked for, has changed. */
  changed(): boolean
}

const testFilePatterns = ["**/*.fga.yaml", "**/*.fga.yml", "**/*.gw.yaml", "**/*.gw.yml"]

/**
 * The files with tests of the operands. One below the current folder can name any files below it. Another one can name files below its
 * own folder, or below the folder of the operand.
 * @throws CliError when an operand matches nothing.
 */
export function testFolders(io: Io, operands: readonly string[]): TestFolder[] {
  const folders = new Map<string, Folder>()
  const folderOf = (root: string): Folder => {
    const known = folders.get(root) ?? new Folder(root, prefixOf(io.cwd, root))
    folders.set(root, known)
    return known
  }
  for (const operand of operands.length === 0 ? ["."] : operands) {
    const { base, pattern } = partsOf(io.cwd, operand)
    const root = isInside(io.cwd, base) ? io.cwd : base
    const below = relative(root, base).split(sep).join("/")
    if (!folderOf(root).add(pattern.map((each) => (below === "" ? each : `${below}/${each}`))))
      throw nothingFound(operand, operands.length === 0)
  }
  return [...folders.values()]
}

/** The folder of an operand, and the patterns below it. */
function partsOf(cwd: string, operand: string): { base: string; pattern: readonly string[] } {
  const path = resolve(cwd, operand)
  const status = statSync(path, { throwIfNoEntry: false })
  if (status?.isDirectory()) return { base: path, pattern: testFilePatterns }
  if (status !== undefined || !isPattern(operand)) return { base: dirname(path), pattern: [basename(path)] }
  const segments = operand.split("/")
  const first = segments.findIndex(isPattern)
  const fixed = segments.slice(0, first).join("/") || (operand.startsWith("/") ? "/" : ".")
  return { base: resolve(cwd, fixed), pattern: [segments.slice(first).join("/")] }
}

/** Nothing to run is a mistake: a test run that tests nothing must not pass. */
function nothingFound(operand: string, byDefault: boolean): CliError {
  if (byDefault)
    return new CliError(
      "there is no *.fga.yaml and no *.gw.yaml below this folder",
      "Name the file, or write one: tests of a model, or tests of the gateway.",
    )
  return new CliError(
    `${operand} matches no file with tests`,
    "Check the path. A folder selects all *.fga.yaml and *.gw.yaml files below it.",
  )
}

/** The prefix of paths below `root`, relative to `cwd`. */
function prefixOf(cwd: string, root: string): string {
  if (root === cwd) return ""
  const path = relative(cwd, root).split(sep).join("/")
  return `${isAbsolute(path) || path.split("/").filter((each) => each === "..").length > 3 ? root : path}/`
}

function isInside(folder: string, path: string): boolean {
  const below = relative(folder, path)
  return below === "" || (below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below))
}

/** A folder with its tests; it knows which files were read, so that `--watch` runs again after a change of any of them. */
class Folder implements TestFolder, Files {
  readonly #disk: WatchedFiles
  readonly #prefix: string
  readonly #paths = new Set<string>()

  constructor(root: string, prefix: string) {
    this.#disk = new WatchedFiles(root)
    this.#prefix = prefix
  }

  get files(): Files {
    return this
  }

  get paths(): readonly string[] {
    return [...this.#paths].sort()
  }

  /** Adds the files that match; returns false if there are none. */
  add(patterns: readonly string[]): boolean {
    const found = patterns.flatMap((pattern) =>
      isPattern(pattern)
        ? this.#disk.glob(pattern).paths.filter((path) => !/(^|\/)node_modules\//.test(path))
        : [pattern],
    )
    for (const path of found) this.#paths.add(this.#prefix + path)
    return found.length > 0
  }

  read(path: string, bytesMax: number): ReadResult {
    if (path.startsWith(this.#prefix)) return this.#disk.read(path.slice(this.#prefix.length), bytesMax)
    return { kind: "failure", reason: "outside", detail: "is outside the folder of the tests" }
  }

  readAnywhere(path: string, bytesMax: number): ReadResult {
    return this.read(path, bytesMax)
  }

  glob(pattern: string): GlobResult {
    if (!pattern.startsWith(this.#prefix)) return { paths: [], problem: undefined }
    const { paths, problem } = this.#disk.glob(pattern.slice(this.#prefix.length))
    return { paths: paths.map((path) => this.#prefix + path), problem }
  }

  changed(): boolean {
    return this.#disk.changed()
  }
}
