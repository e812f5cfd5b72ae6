import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import pc from "picocolors"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { watch } from "../dev/watch.ts"
import type { Io } from "../io.ts"
import { jsonOption, readFormat, textOf } from "../options.ts"
import { withProgress } from "../progress.ts"
import { showFindings } from "../project.ts"
import { type TestFolder, testFolders } from "../test-files.ts"
import { runTests, type TestRun, type TestSelection } from "../test-run.ts"
import { testText } from "../views/test.ts"
import { testJson, testJunit } from "../views/test-documents.ts"
import { testTap } from "../views/test-tap.ts"

interface TestArgs extends TestSelection {
  /** Files, folders and patterns; empty: all files with tests below the current folder. */
  readonly files: readonly string[]
  readonly format: "text" | "json" | "junit" | "tap"
  /** The file for the document. With it, the command also prints text. */
  readonly output: string | undefined
  readonly watch: boolean
}

const testLine: CommandLine<TestArgs> = {
  operands: [
    ["[files...]", "files, folders or patterns (default: all *.fga.yaml and *.gw.yaml below this folder)"],
  ],
  options: [
    ["--filter <text>", "run only tests whose name, or whose store's or file's name, contains this text"],
    ["--coverage", "list the parts of the models and of the gateway that no test covers"],
    [
      "--min-coverage <percent>",
      "like --coverage; exit 1 when the coverage of a model is lower than this percentage",
    ],
    [
      "--fail-under <percent>",
      "like --coverage; exit 1 when the coverage of a gateway, or with --mutate the share of noticed guards, is lower",
    ],
    ["--mutate", "weaken each guard of the gateway in turn, and list those that no test notices"],
    ["--format <format>", "text, json, junit or tap (default: text)"],
    jsonOption,
    ["--output <file>", "write the JSON, JUnit or TAP document to this file, and print text"],
    ["--watch", "run again when a file changes"],
  ],
  examples: [
    ["sallyport test", "run all tests below this folder"],
    ['sallyport test "models/**/*.fga.yaml" --coverage', "also list what no test covers"],
    ["sallyport test --format junit --output report.xml", "in CI: write a report"],
    ["sallyport test --min-coverage 90", "in CI: fail when the tests cover less than 90 % of a model"],
    [
      "sallyport test --mutate --fail-under 80",
      "in CI: fail when too many guards could be removed unnoticed",
    ],
  ],
  parse(files, options) {
    const format = readFormat(options, ["text", "json", "junit", "tap"])
    const output = textOf(options, "output")
    const filter = textOf(options, "filter")
    const watch = options["watch"] === true
    if (output !== undefined && format === "text")
      throw new CliError("--output needs the format json, junit or tap", "Add --format json, junit or tap.")
    // A stream of documents has none of the formats.
    if (watch && format !== "text" && output === undefined)
      throw new CliError("--watch cannot print a single document", "Add `--output FILE` for the document.")
    const minCoverage = readPercent(options["minCoverage"], "--min-coverage")
    const failUnder = readPercent(options["failUnder"], "--fail-under")
    const mutate = options["mutate"] === true
    const coverage = options["coverage"] === true || minCoverage !== undefined || failUnder !== undefined
    return { files, filter, format, output, coverage, minCoverage, failUnder, mutate, watch }
  },
}

/** A whole number from 0 to 100. */
function readPercent(given: unknown, option: string): number | undefined {
  if (given === undefined) return undefined
  const text = String(given)
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new CliError(
      `${option} ${text} is not a percentage`,
      `Give a whole number up to 100: ${option} 80.`,
    )
  return Number(text)
}

/** With `--watch`, a mistake in a file is printed and the next change is waited for. */
export const test = command(testLine, async (args, io) => {
  // Read again before each run, because files may be added or removed while it watches.
  let folders = testFolders(io, args.files)
  let run = await runOnce(io, args, folders)
  if (!args.watch) return run.passed ? exitCode.ok : exitCode.failed
  const again = async (): Promise<void> => {
    // The time separates the output of this run from the one above it.
    io.out(`\n${new Date().toTimeString().slice(0, 8)} changed\n`)
    try {
      folders = testFolders(io, args.files)
      run = await runOnce(io, args, folders)
    } catch (error) {
      // A file that is being edited is often broken for a moment. Only a fault of this program ends the watch.
      if (!(error instanceof CliError)) throw error
      io.err(`error: ${error.message}\n`)
    }
  }
  io.err("\nWatching. Ctrl-C ends it.\n")
  const end = watch(() => run.projectChanged() || folders.some((folder) => folder.changed()), again)
  await io.untilStopped()
  await end()
  return exitCode.ok
})

/** One run. A document without `--output` goes to standard output alone, so that it stays valid JSON or XML. */
async function runOnce(io: Io, args: TestArgs, folders: readonly TestFolder[]): Promise<TestRun> {
  const run = await withProgress(io, "testing", () => runTests(folders, args, io.cwd))
  const document = args.format === "text" ? undefined : documents[args.format](run)
  // A report on standard output must be alone there: programs read it to the end.
  if (document !== undefined && args.output === undefined) {
    io.out(document)
    return run
  }
  showFindings(io, run.findings)
  io.out(testText(run, pc.createColors(io.colour.out)))
  if (document !== undefined) save(io, args.output ?? "", document)
  return run
}

const documents = { json: testJson, junit: testJunit, tap: testTap } as const

/** Writes the report. */
function save(io: Io, path: string, document: string): void {
  try {
    writeFileSync(resolve(io.cwd, path), document)
  } catch (error) {
    throw new CliError(
      `${path} cannot be written (${(error as NodeJS.ErrnoException).code})`,
      "Check the folder and its permissions.",
    )
  }
}
