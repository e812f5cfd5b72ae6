import { constants, existsSync } from "node:fs"
import { copyFile, mkdir, readdir } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join, relative, resolve, sep } from "node:path"
import { didYouMean } from "../../core/nearest.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { formatOptions, readFormat } from "../options.ts"
import { print } from "../print.ts"

/** The projects in models/examples, with descriptions. */
export const examples = {
  minimal: "one backend behind one path, without authentication",
  keys: "subscription keys, products with their own limits, usage per key",
  "docs-app": "documents in folders: a token (JWT) and a relation decide who may read and write",
  b2b: "organizations with members, admins and roles; no request crosses from one to another",
  openapi: "routes, request validation and mocks from an OpenAPI document",
  apim: "policy documents of Azure API Management, run as they are",
  saas: "plans with quotas, a key for each tenant, and relations between users, keys and workspaces",
  webhooks: "signed requests (HMAC) of GitHub, Stripe and a partner, each accepted once",
  sessions: "a web application behind a login with OpenID Connect, without code in it",
  xml: "JSON for callers in front of a service that speaks XML; nothing they send becomes markup",
} as const

type ExampleName = keyof typeof examples

interface InitArgs {
  /** Where to write the project, relative to the current folder. */
  readonly folder: string
  readonly example: ExampleName
  readonly format: "text" | "json"
}

const initLine: CommandLine<InitArgs> = {
  operands: [["[folder]", "folder for the project; created if missing (default: the current folder)"]],
  options: [["--example <name>", `${Object.keys(examples).join(", ")} (default: minimal)`], ...formatOptions],
  examples: [
    ["sallyport init", "the smallest project, in the current folder"],
    ...Object.entries(examples).map(
      ([name, text]) => [`sallyport init --example ${name} my-gateway`, text] as const,
    ),
  ],
  parse: ([folder = "."], options) => ({
    folder,
    example: readExample(options["example"] ?? "minimal"),
    format: readFormat(options, ["text", "json"]),
  }),
}

/** An unknown name gets the whole list, with a line about each example. */
function readExample(given: unknown): ExampleName {
  const names = Object.keys(examples) as ExampleName[]
  const found = names.find((name) => name === given)
  if (found !== undefined) return found
  // Names of one width, so that the descriptions form a column.
  const width = Math.max(...names.map((name) => name.length))
  const list = names.map((name) => `\n  ${name.padEnd(width)}  ${examples[name]}`)
  throw new CliError(
    `there is no example \`${String(given)}\`${didYouMean(String(given), names)}`,
    `Choose one of these:${list.join("")}`,
  )
}

/** Copies an example. Refuses before writing anything if any file of the example exists. */
export const init = command(initLine, async ({ folder, example, format }, io) => {
  const target = resolve(io.cwd, folder)
  const source = join(examplesFolder(), example)
  const files = await filesOf(source)
  demandNoneExists(target, files, example)
  try {
    for (const file of files) {
      await mkdir(dirname(join(target, file)), { recursive: true })
      // Exclusive, in case the file was created after the check.
      await copyFile(join(source, file), join(target, file), constants.COPYFILE_EXCL)
    }
  } catch (error) {
    throw new CliError(
      `${target} cannot be written (${(error as NodeJS.ErrnoException).code})`,
      `Choose a folder this user may write to: \`sallyport init --example ${example} FOLDER\`.`,
    )
  }
  print(io, format, { folder: target, example, files }, () => writtenText(folder, files, example))
  return exitCode.ok
})

/** Next to the package's manifest, independent of this module's location. */
function examplesFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("#package")), "models/examples")
}

/** Paths of all files below a folder, with `/`. */
async function filesOf(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder))
    throw new CliError(
      `this installation has no examples: ${folder} is missing`,
      "Run `npx sallyport init` of the npm package; the container image supports only `migrate` and `serve`.",
    )
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort()
}

/** Checked for all files first: half an example in a folder with other files would be hard to clean up. */
function demandNoneExists(target: string, files: readonly string[], example: ExampleName): void {
  const existing = files.filter((file) => existsSync(join(target, file)))
  if (existing.length === 0) return
  throw new CliError(
    `${existing.join(", ")} in ${target} would be overwritten; nothing was written`,
    `Write the example into a folder of its own: \`sallyport init --example ${example} my-gateway\`.`,
  )
}

/** The commands to type next, each with what it does. */
function writtenText(folder: string, files: readonly string[], example: ExampleName): string {
  const hasTests = files.some((file) => file.endsWith(".fga.yaml"))
  const next: readonly (readonly [line: string, text: string])[] = [
    // Lines can be pasted one after the other.
    ...(folder === "." ? [] : ([[`cd ${folder}`, ""]] as const)),
    ["npx sallyport validate", "check gateway.conf and all files that it uses"],
    ...(hasTests ? ([["npx sallyport test", "run the tests of the model"]] as const) : []),
    ["npx sallyport dev", "run it with an identity provider and sample backends; apply what you save"],
  ]
  const width = Math.max(...next.map(([line]) => line.length))
  return [
    `Wrote the example \`${example}\`${folder === "." ? "" : ` to ${folder}`}:`,
    ...files.map((file) => `  ${file}`),
    "\nNext:",
    ...next.map(([line, text]) => `  ${line.padEnd(width)}  ${text}`.trimEnd()),
    "\nREADME.md contains requests to try and explains what to change first.\n",
  ].join("\n")
}
