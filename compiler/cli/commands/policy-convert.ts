import { basename, dirname, resolve } from "node:path"
import type { PolicyDocument } from "../../azure/ast.ts"
import type { AzureCompiler } from "../../azure/wing.ts"
import { Report } from "../../core/diagnostic.ts"
import { DiskFiles } from "../../core/disk-files.ts"
import { Project } from "../../core/load.ts"
import { renderDiagnostics, summaryOf } from "../../render/diagnostics.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"

interface PolicyConvertArgs {
  readonly file: string
  /** The name of the policy (default: derived from the file's name). */
  readonly name: string | undefined
  /** The section that contains the policies of a fragment. */
  readonly section: "inbound" | "outbound" | "on-error"
  /** Files of fragments by id. */
  readonly fragments: ReadonlyMap<string, string>
  /** Texts of known named values. */
  readonly values: ReadonlyMap<string, string>
}

const sections = ["inbound", "outbound", "on-error"] as const

const policyConvertLine: CommandLine<PolicyConvertArgs> = {
  operands: [["<file>", "a document of Azure API Management, or a fragment"]],
  options: [
    ["--name <name>", "name of the policy (default: the file's name)"],
    [
      "--section <section>",
      "section of a fragment's policies: inbound, outbound or on-error (default: inbound)",
    ],
    ["--fragment <id=file...>", "file of a fragment that the document includes"],
    [
      "--value <name=text...>",
      "text of a named value, inserted where the document uses it; other values are declared",
    ],
  ],
  examples: [
    [
      "sallyport policy convert orders.policy.xml >> gateway.conf",
      "convert, and list the policies that must be written by hand",
    ],
    [
      "sallyport policy convert orders.policy.xml --fragment session=session.xml",
      "convert a document that includes a fragment",
    ],
  ],
  parse([file = ""], options) {
    const { name } = options
    // A folder or nothing. The pattern is that of `import openapi`.
    if (/^$|(?:^|\/)\.{0,2}$/.test(file))
      throw new CliError(
        "policy convert needs the file of one policy document",
        "For example: sallyport policy convert orders.policy.xml",
      )
    // The rule for names in gateway.conf, because the policy is declared with it.
    if (typeof name === "string" && !/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/.test(name))
      throw new CliError(`\`${name}\` is not a valid name of a policy`, "Use letters, digits, `-` and `_`.")
    return {
      file,
      name: typeof name === "string" ? name : undefined,
      section: readSection(options["section"]),
      fragments: readPairs(options["fragment"], "fragment", "--fragment session=session.xml"),
      values: readPairs(options["value"], "value", "--value timeout=20"),
    }
  },
}

function readSection(given: unknown): PolicyConvertArgs["section"] {
  if (given === undefined) return "inbound"
  const found = sections.find((section) => section === given)
  if (found === undefined)
    throw new CliError(`unknown section \`${String(given)}\``, "Write inbound, outbound or on-error.")
  return found
}

/** Pairs `name=text`. The text may be empty for values, but not for files. */
function readPairs(given: unknown, what: string, example: string): ReadonlyMap<string, string> {
  const words = Array.isArray(given) ? given.map(String) : []
  return new Map(
    words.map((word) => {
      const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? []
      if (name === undefined || text === undefined || (what === "fragment" && text === ""))
        throw new CliError(`\`${word}\` is not a ${what}`, `For example: ${example}`)
      return [name, text]
    }),
  )
}

/** Prints the converted text. Prints what remains to be done by hand to standard error, with exit code 2. */
export const policyConvert = command(
  policyConvertLine,
  async ({ file, name, section, fragments, values }, io) => {
    // Loaded here only: most commands run without a policy document.
    const [{ azure }, { convertPolicy }] = await Promise.all([
      import("../../azure/wing.ts"),
      import("../../azure/convert/convert-policy.ts"),
    ])
    const report = new Report()
    const document = readFrom(file, azure, io, report)
    const included = new Map<string, PolicyDocument>()
    for (const [id, path] of fragments) {
      const fragment = readFrom(path, azure, io, report)
      if (fragment !== undefined) included.set(id, fragment)
    }
    const findings = report.sorted()
    if (findings.length > 0) io.err(`${renderDiagnostics(findings, "text", { colour: io.colour.err })}\n`)
    if (document?.root === undefined || report.blocked)
      throw new CliError(
        `${file} was not converted: ${summaryOf(findings)}`,
        "Correct the document at the places that the findings name.",
      )
    // `values` are inserted as constants; the conversion declares the others, so that the text compiles.
    const made = convertPolicy(document, { name: name ?? nameOf(file), section, fragments: included, values })
    io.out(made.text)
    for (const { place, note } of made.notes) io.err(`${place}: ${note}\n`)
    for (const { place, what, reason, closed } of made.losses)
      io.err(`${place}: \`${what}\` is not converted${closed ? ", requests get 501" : ""}: ${reason}\n`)
    // Losses are in the text as comments, too, at their place.
    const { policies, policiesConverted } = made.counts
    if (made.losses.length === 0) return exitCode.ok
    io.err(
      `${policiesConverted} of ${policies} policies were converted; comments in the text say what remains to be written.\n`,
    )
    return exitCode.changes
  },
)

function readFrom(file: string, azure: AzureCompiler, io: Io, report: Report): PolicyDocument | undefined {
  const at = resolve(io.cwd, file)
  // The file's folder is the project, so a fragment beside it is found from any folder.
  const source = new Project(new DiskFiles(dirname(at)), report).read(basename(at), undefined)
  return source === undefined ? undefined : azure.readPolicyDocument(source, report)
}

/** `orders.policy.xml` becomes `orders`. */
function nameOf(file: string): string {
  const plain = basename(file)
    .replace(/(?:\.policy|\.fragment)?\.xml$/i, "")
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^[^A-Za-z_]+|_+$/g, "")
    .slice(0, 60)
  return plain === "" ? "converted" : plain
}
