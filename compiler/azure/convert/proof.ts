import { compile } from "../../compile.ts"
import { Report } from "../../core/diagnostic.ts"
import { MemoryFiles } from "../../core/files.ts"
import { SourceFile } from "../../core/source.ts"
import { formatGateway } from "../../gateway/format.ts"
import { parseGateway } from "../../gateway/parser.ts"
import type { Element } from "../ast.ts"
import { azure } from "../wing.ts"
import { firstDifference, missingHalf, type Sections } from "./same-steps.ts"
import type { ConvertedLine } from "./units.ts"

/** An error of the compiler for the statement of a policy. `secret`: the value is treated as a secret, but this place shows it. */
export interface StatementProblem {
  readonly element: Element | undefined
  readonly detail: string
  readonly secret?: string
  /** A variable is unset, possibly only because of another problem. */
  readonly follows: boolean
}

/** Requirements for the route that uses the policy: path parameters, whether callers send subscription keys, and the missing half of a cache. */
export interface RouteNeeds {
  readonly parameters: readonly string[]
  readonly keyed: boolean
  readonly sections: Sections
}

/** A gateway that uses the policy on a route that meets its requirements. */
export function withGateway(text: string, name: string, { parameters, keyed, sections }: RouteNeeds): string {
  const half = missingHalf(sections)
  const block = half === undefined ? "" : ` { ${halves[half]} }`
  const path = ["", ...parameters.map((each) => `{${each}}`)].join("/") || "/"
  return `${text}
gateway converted { listen 127.0.0.1:8000; trust none }
backend converted_backend { url "http://127.0.0.1:9000" }
api converted { path "/converted"; auth ${keyed ? "subscription" : "none"}; backend converted_backend; use ${name}; GET "${path === "" ? "/" : path}"${block} }
`
}

const halves = {
  lookup: "inbound { cache lookup }",
  store: "outbound { cache store 60s }",
} as const

/** Compiles the text in a gateway, and reports statements that are refused or differ from their policies. */
export function problemsOf(
  lines: readonly ConvertedLine[],
  name: string,
  needs: RouteNeeds,
): StatementProblem[] {
  const text = lines.map((line) => line.text).join("\n")
  const { plan, diagnostics } = compile(
    new MemoryFiles([["gateway.conf", withGateway(text, name, needs)]]),
    "gateway.conf",
    { azure },
  )
  if (plan !== undefined) {
    const element = firstDifference(needs.sections, plan)
    return element === undefined
      ? []
      : [{ element, detail: "its statement would mean something else", follows: false }]
  }
  const problems = diagnostics.flatMap((finding): StatementProblem[] => {
    const { severity, span, code, detail } = finding
    if (severity !== "error" || span === undefined) return []
    const { line } = span.file.position(span.start)
    const secret = code === "SP3013" || code === "SP5008" ? /`([^`]+)`/.exec(detail)?.[1] : undefined
    const follows = code === "SP5018"
    return [
      { element: lines[line - 1]?.element, detail, follows, ...(secret === undefined ? {} : { secret }) },
    ]
  })
  const causes = problems.filter(({ follows }) => !follows)
  return causes.length > 0 ? causes : problems.slice(0, 1)
}

/** The text in the format of `sallyport fmt`. */
export function formatted(lines: readonly ConvertedLine[]): string {
  const text = `${lines.map((line) => line.text).join("\n")}\n`
  const report = new Report()
  const document = parseGateway(new SourceFile("gateway.conf", text), report)
  if (report.blocked) {
    const [first] = report.sorted()
    throw new Error(`the conversion wrote an invalid gateway.conf:  ${first?.detail}`)
  }
  return formatGateway(document)
}
