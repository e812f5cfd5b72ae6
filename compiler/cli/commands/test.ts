import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import pc from "picocolors"
import type { TestArgs } from "../args/test.ts"
import { CliError, type CommandAction, exitCode } from "../command.ts"
import { watch } from "../dev/watch.ts"
import type { Io } from "../io.ts"
import { withProgress } from "../progress.ts"
import { showFindings } from "../project.ts"
import { type TestFolder, testFolders } from "../test-files.ts"
import { runTests, type TestRun } from "../test-run.ts"
import { testText } from "../views/test.ts"
import { testJson, testJunit } from "../views/test-documents.ts"

export const test: CommandAction<TestArgs> = async (args, io) => {
  let folders = testFolders(io, args.files)
  const run = await runOnce(io, args, folders)
  if (!args.watch) return run.passed ? exitCode.ok : exitCode.failed
  const again = async (): Promise<void> => {
    io.out(`\n${new Date().toTimeString().slice(0, 8)} changed\n`)
    try {
      folders = testFolders(io, args.files)
      await runOnce(io, args, folders)
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      io.err(`error: ${error.message}\n`)
    }
  }
  io.err("\nWatching. Ctrl-C ends it.\n")
  const end = watch(() => folders.some((folder) => folder.changed()), again)
  await io.untilStopped()
  await end()
  return exitCode.ok
}

async function runOnce(io: Io, args: TestArgs, folders: readonly TestFolder[]): Promise<TestRun> {
  const run = await withProgress(io, "testing", () => runTests(folders, args))
  const document =
    args.format === "json" ? testJson(run) : args.format === "junit" ? testJunit(run) : undefined
  if (document !== undefined && args.output === undefined) {
    io.out(document)
    return run
  }
  showFindings(io, run.findings)
  io.out(testText(run, pc.createColors(io.colour.out)))
  if (document !== undefined) save(io, args.output ?? "", document)
  return run
}

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
