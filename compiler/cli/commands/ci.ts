import { ciGithub, ciJson, ciMarkdown, ciText } from "../ci/report.ts"
import { type CiResult, type CiStep, runStep } from "../ci/steps.ts"
import { CliError, type CommandLine, command, exitCode, type OptionValues } from "../command.ts"
import type { Io } from "../io.ts"
import { configOption, jsonOption, type ProjectArgs, readFormat, readProject, textOf } from "../options.ts"
import { writeOutputFile } from "../output-file.ts"
import { withProgress } from "../progress.ts"
import { testFolders } from "../test-files.ts"

interface CiArgs {
  readonly project: ProjectArgs
  /** What the project is compared with: a folder, a .conf file or a plan file; undefined: the running plan. */
  readonly base: string | undefined
  readonly minCoverage: string | undefined
  readonly failUnder: string | undefined
  readonly format: "text" | "json" | "markdown" | "github"
  /** File for the Markdown comment. */
  readonly comment: string | undefined
}

const ciLine: CommandLine<CiArgs> = {
  options: [
    configOption,
    [
      "--base <path>",
      "compare with this project (folder or .conf file) or plan file (default: the running plan, if a control API is named)",
    ],
    ["--min-coverage <percent>", "fail when the tests of a model cover less"],
    ["--fail-under <percent>", "fail when the tests of a gateway show less of it"],
    ["--comment <file>", "also write the results as Markdown, for a comment on a pull request"],
    ["--format <format>", "text, json, markdown or github (default: text)"],
    jsonOption,
  ],
  examples: [
    ["sallyport ci", "all checks of the project in this folder"],
    [
      "sallyport ci --base ../main --comment comment.md",
      "for a pull request, with the other branch beside it",
    ],
    ["sallyport ci --format github", "in a GitHub workflow, with annotations"],
  ],
  parse: (_, options) => ({
    project: readProject(options),
    base: textOf(options, "base"),
    minCoverage: textOf(options, "minCoverage"),
    failUnder: textOf(options, "failUnder"),
    format: readFormat(options, ["text", "json", "markdown", "github"]),
    comment: textOf(options, "comment"),
  }),
}

/** All steps run, whatever the others found. A plan that differs is no failure: changes are what a pull request is for. */
export const ci = command(ciLine, async (args, io) => {
  const results: CiResult[] = []
  for (const step of stepsOf(args, io))
    results.push(await withProgress(io, step.line, () => runStep(step, io)))
  const print = { text: ciText, json: ciJson, markdown: ciMarkdown, github: ciGithub }[args.format]
  if (args.comment !== undefined) writeOutputFile(io, args.comment, ciMarkdown(results), "the comment")
  io.out(print(results))
  return results.some(({ status }) => status === "failed") ? exitCode.failed : exitCode.ok
})

/** The checks, from the cheapest to the one that says most. */
function stepsOf({ project, base, minCoverage, failUnder, format }: CiArgs, io: Io): CiStep[] {
  const config = `${project.folder === "." ? "" : `${project.folder.replace(/\/$/, "")}/`}${project.entry}`
  const named: OptionValues = config === "gateway.conf" ? {} : { config }
  const words = config === "gateway.conf" ? "" : ` --config ${config}`
  const least = { ...(minCoverage && { minCoverage }), ...(failUnder && { failUnder }) }
  const demands = [
    minCoverage === undefined ? "" : `--min-coverage ${minCoverage}`,
    failUnder === undefined ? "" : `--fail-under ${failUnder}`,
  ]
  const folder = project.folder === "." ? [] : [project.folder.replace(/\/$/, "")]
  const line = (parts: readonly string[]): string => parts.filter((part) => part !== "").join(" ")
  return [
    {
      line: `fmt --check${words}`,
      load: async () => (await import("./fmt.ts")).fmt,
      operands: [],
      options: { ...named, check: true },
    },
    {
      line: `validate${words}`,
      load: async () => (await import("./validate.ts")).validate,
      operands: [],
      options: { ...named, format: format === "github" ? "github" : "text" },
    },
    {
      line: line(["test", ...folder, "--coverage", ...demands]),
      load: async () => (await import("./test.ts")).test,
      operands: folder,
      options: { coverage: true, ...least },
      skipped: hasTests(io, folder) ? undefined : "the project has no tests",
    },
    planStep(config, named, words, base, io),
  ]
}

/** Whether there are files with tests. A project of a gateway alone needs none. */
function hasTests(io: Io, folder: readonly string[]): boolean {
  try {
    return testFolders(io, folder).length > 0
  } catch (error) {
    if (error instanceof CliError) return false
    throw error
  }
}

/** What the change does: compared with another project, or with the running plan. */
function planStep(
  config: string,
  named: OptionValues,
  words: string,
  base: string | undefined,
  io: Io,
): CiStep {
  if (base !== undefined)
    return {
      line: `diff ${base} ${config}`,
      load: async () => (await import("./diff.ts")).diff,
      operands: [base, config],
      options: {},
    }
  const isNamed = (io.env["SALLYPORT_CONTROL_URL"] ?? "") !== ""
  return {
    line: `plan${words}`,
    load: async () => (await import("./plan.ts")).plan,
    operands: [],
    options: named,
    skipped: isNamed ? undefined : "neither --base nor a control API (--control) is given",
  }
}
