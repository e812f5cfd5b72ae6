import { readFileSync } from "node:fs"
import type { SyntaxNode } from "@lezer/common"
import { parser } from "@prometheus-io/lezer-promql"
import { projectRoot } from "../structure/tree.ts"

/** Labels by metric, from the page that a test compares with the registry (test/manual/metrics.test.ts). */
const metrics = new Map<string, readonly string[]>()
const page = readFileSync(`${projectRoot}runtime/docs/metrics.md`, "utf8")
for (const [, name = "", type = "", labels = ""] of page.matchAll(
  /^\| `(\w+)` +\| (counter|gauge|histogram) +\| ([\w, ]*?) *\|/gm,
)) {
  const own = labels.split(", ").filter((label) => label !== "")
  if (type !== "histogram") metrics.set(name, own)
  else for (const end of ["_sum", "_count"]) metrics.set(name + end, own)
  if (type === "histogram") metrics.set(`${name}_bucket`, [...own, "le"])
}

/** What Prometheus itself adds to the metrics of a target. */
const ofPrometheus = ["up", "ALERTS"]

interface Known {
  /** Names of recording rules. */
  readonly recorded?: readonly string[]
  /** Labels that the scrape adds. */
  readonly targetLabels: readonly string[]
}

/** Mistakes in a query, by the grammar of Prometheus' own editor: its form, and metrics and labels that no process has. */
export function breachesOfQuery(query: string, { recorded = [], targetLabels }: Known): string[] {
  const found: string[] = []
  const used = new Set<string>()
  let isOpen = false
  const text = (node: SyntaxNode) => query.slice(node.from, node.to)
  const { topNode } = parser.parse(query)
  topNode.cursor().iterate(({ node }) => {
    if (node.type.isError)
      found.push(`no expression from character ${node.from} on: ${query.slice(node.from)}`)
    if (node.name !== "VectorSelector") return
    const name = text(node.getChild("Identifier") ?? node)
    const labels = metrics.get(name)
    if (labels === undefined) {
      if (![...ofPrometheus, ...recorded].includes(name)) found.push(`no metric ${name}`)
      isOpen = true
    }
    for (const label of [...(labels ?? []), ...targetLabels]) used.add(label)
    if (labels === undefined) return
    for (const matched of labelsIn(node, "LabelName"))
      if (![...labels, ...targetLabels].includes(text(matched)))
        found.push(`${name} has no label ${text(matched)}`)
  })
  for (const grouped of labelsIn(topNode, "GroupingLabels").flatMap((node) => labelsIn(node, "LabelName")))
    if (!isOpen && !used.has(text(grouped))) found.push(`nothing has the label ${text(grouped)}`)
  return found
}

function labelsIn(node: SyntaxNode, name: string): SyntaxNode[] {
  const found: SyntaxNode[] = []
  node.cursor().iterate((each) => {
    if (each.name === name) found.push(each.node)
  })
  return found
}
