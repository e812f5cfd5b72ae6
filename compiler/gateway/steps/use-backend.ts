import { headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { LowerStep } from "../lower/step.ts"

/** `use backend NAME`, `use url "…" raw`, `use weighted by "…" { … }`, `use by "…" { … }` */
export const lowerUseBackend: LowerStep = (bound, { texts, place, steps, backends, report }) => {
  const at = headSpan(bound.statement)
  const text = (slot: string) => {
    const argument = bound.args.text(slot)
    return argument === undefined ? undefined : texts.lower(argument, place)
  }
  const named = (each: typeof bound | undefined): string | undefined => {
    const word = each?.args.word("backend")
    return word !== undefined && backends.useDeclared(word.text) ? word.text : undefined
  }
  const [what] = bound.statement.args
  if (what?.kind !== "word") return undefined
  if (what.text === "backend") {
    const backend = named(bound)
    return backend === undefined ? undefined : steps.add({ kind: "set-backend", target: { backend } }, at)
  }
  if (what.text === "url") {
    const url = text("url")
    if (url === undefined) return undefined
    const raw = bound.statement.args.some((each) => each.kind === "word" && each.text === "raw")
    const [first] = typeof url === "string" ? [url] : url.text
    const isWhole = typeof url === "string" && /^https?:\/\/[^/]+$/.test(url)
    if (!raw && !isWhole && !(typeof first === "string" && /^https?:\/\/[^/]+\//.test(first))) {
      report.add("SP2026", bound.args.text("url")?.span, "the host must be written out", {
        help: "Begin with `http://HOST/` or `https://HOST/`, or add `raw`: then what a request brings decides where it goes.",
      })
      return undefined
    }
    return steps.add({ kind: "set-backend", target: { url, raw } }, at)
  }
  if (what.text === "weighted") {
    const weighted = statementsOf(bound.block, "backend").flatMap((each) => {
      const backend = named(each)
      const weight = each.args.value<number>("weight")
      return backend === undefined || weight === undefined ? [] : [{ backend, weight }]
    })
    const key = text("key")
    if (weighted.length === 0) return undefined
    return steps.add({ kind: "set-backend", target: { weighted, ...(key === undefined ? {} : { key }) } }, at)
  }
  const by = text("value")
  if (by === undefined) return undefined
  const cases = statementsOf(bound.block, "case").flatMap((each) => {
    const backend = named(each)
    const value = each.args.value<string>("value")
    return backend === undefined || value === undefined ? [] : [{ value, backend }]
  })
  const refuse = statementOf(bound.block, "refuse-others")
  const other = statementOf(bound.block, "otherwise")
  if (refuse !== undefined && other !== undefined) {
    report.add("SP2017", refuse.statement.keyword.span, "with `otherwise` there is no `refuse-others`", {
      related: [{ span: other.statement.keyword.span, message: "`otherwise`" }],
      help: "Keep one of the two.",
    })
    return undefined
  }
  const otherwise = named(other) ?? null
  const strict = refuse !== undefined ? { strict: true as const } : {}
  return steps.add({ kind: "set-backend", target: { by, cases, otherwise, ...strict } }, at)
}
