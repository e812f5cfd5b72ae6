import { CliError, type CommandLine } from "../command.ts"

export interface PolicyConvertArgs {
  readonly file: string
  /** Of the policy; made of the file's name when absent. */
  readonly name: string | undefined
  /** Where the policies of a fragment stand. */
  readonly section: "inbound" | "outbound" | "on-error"
  /** Files of fragments by their ids. */
  readonly fragments: ReadonlyMap<string, string>
  /** Texts of named values that are known. */
  readonly values: ReadonlyMap<string, string>
}

const sections = ["inbound", "outbound", "on-error"] as const

export const policyConvertLine: CommandLine<PolicyConvertArgs> = {
  name: "policy convert",
  summary: "print an XML policy document as text of gateway.conf",
  operands: [["<file>", "a document of Azure API Management, or a fragment"]],
  options: [
    ["--name <name>", "what the policy is called; the file's name when not said"],
    ["--section <section>", "where a fragment's policies stand: inbound, outbound or on-error"],
    ["--fragment <id=file...>", "the file of a fragment that the document includes"],
    ["--value <name=text...>", "a named value's text, put in where it stands; others are declared"],
  ],
  examples: [
    ["sallyport policy convert orders.policy.xml >> gateway.conf", "a beginning: it says what is left to do"],
    ["sallyport policy convert orders.policy.xml --fragment session=session.xml", "with what it includes"],
  ],
  parse([file = ""], options) {
    const { name } = options
    if (/^$|(?:^|\/)\.{0,2}$/.test(file))
      throw new CliError(
        "a policy document is a file",
        "For example: sallyport policy convert orders.policy.xml",
      )
    if (typeof name === "string" && !/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/.test(name))
      throw new CliError(`\`${name}\` can't be the name of a policy`, "Use letters, digits, `-` and `_`.")
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
    throw new CliError(`there is no section \`${String(given)}\``, "Write inbound, outbound or on-error.")
  return found
}

function readPairs(given: unknown, what: string, example: string): ReadonlyMap<string, string> {
  const words = Array.isArray(given) ? given.map(String) : []
  return new Map(
    words.map((word) => {
      const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? []
      if (name === undefined || text === undefined || (what === "fragment" && text === ""))
        throw new CliError(`\`${word}\` names no ${what}`, `For example: ${example}`)
      return [name, text]
    }),
  )
}
