import { compileAndTest } from "../../compiler/compile.ts"
import type { Diagnostic, TextEdit } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { broken, type Mistake, type Slip } from "./corpus.ts"

/** What is asked of the findings of a broken project. */
export const measures = ["reported", "place", "cause", "remedy", "alone"] as const

/** One of `measures`. */
export type Measure = (typeof measures)[number]

/** A mistake, what was found, and which measures are met. */
export interface Scored {
  readonly mistake: Mistake
  readonly findings: readonly Diagnostic[]
  readonly met: Readonly<Record<Measure, boolean>>
}

/** Compiles one broken project and compares the findings with what the mistake says. */
export async function scored(mistake: Mistake): Promise<Scored> {
  const files = broken(mistake.example, [mistake])
  const { diagnostics } = await compileAndTest(new MemoryFiles(files), "gateway.conf")
  const [first] = diagnostics
  const codes = mistake.codes ?? mistake.kind.codes
  return {
    mistake,
    findings: diagnostics,
    met: {
      reported: diagnostics.length > 0,
      place: first !== undefined && isAt(first, mistake),
      cause: first !== undefined && codes.includes(first.code),
      remedy: first !== undefined && (await isRemedied(first, mistake, files)),
      alone: diagnostics.length > 0 && diagnostics.length <= (mistake.findings ?? 1),
    },
  }
}

/** Whether a finding begins where the mistake is, or at a place that is as right. */
export function isAt({ span }: Diagnostic, mistake: Mistake): boolean {
  if (span === undefined) return false
  const line = span.file.line(span.file.position(span.start).line)
  if (mistake.orAt?.(span.file.path, line) === true) return true
  const [from, to] = placeOf(mistake)
  return span.file.path === mistake.file && span.start >= from && span.start <= to
}

function placeOf({ at, start, put }: Slip): readonly [number, number] {
  return at ?? [start, start + put.length]
}

/** Whether the remedy undoes the mistake: edits, by applying them; words, by naming what has to be written. */
async function isRemedied(
  first: Diagnostic,
  mistake: Mistake,
  files: ReadonlyMap<string, string>,
): Promise<boolean> {
  if (first.fix !== undefined) {
    const fixed = new MemoryFiles(withEdits(files, first.fix))
    const { diagnostics } = await compileAndTest(fixed, "gateway.conf")
    return diagnostics.length === 0
  }
  const says = mistake.says ?? mistake.kind.says
  const text = [first.detail, first.help ?? "", ...first.related.map(({ message }) => message)].join("\n")
  if (says === undefined) throw new Error(`${mistake.kind.name}: nothing says what the remedy is`)
  return typeof says === "string" ? text.includes(says) : says.test(text)
}

/** Files with the edits of a finding applied. */
export function withEdits(
  files: ReadonlyMap<string, string>,
  edits: readonly TextEdit[],
): Map<string, string> {
  const changed = new Map(files)
  for (const { span, text } of [...edits].sort((a, b) => b.span.start - a.span.start)) {
    const before = changed.get(span.file.path) as string
    changed.set(span.file.path, before.slice(0, span.start) + text + before.slice(span.end))
  }
  return changed
}

/**
 * Whether each of several mistakes in one project is reported at its place with one of its codes. Of a file whose form is broken, only that
 * can be known, so such mistakes come alone in their file.
 */
export async function allReported(mistakes: readonly Mistake[]): Promise<boolean> {
  const [first] = mistakes
  if (first === undefined) return true
  const { diagnostics } = await compileAndTest(
    new MemoryFiles(broken(first.example, mistakes)),
    "gateway.conf",
  )
  return mistakes.every((mistake) =>
    diagnostics.some(
      (finding) =>
        (mistake.codes ?? mistake.kind.codes).includes(finding.code) &&
        isAt(finding, moved(mistake, mistakes)),
    ),
  )
}

/** A mistake with its places moved by those before it in its file. */
export function moved(mistake: Mistake, all: readonly Mistake[]): Mistake {
  const by = all
    .filter(({ file, start }) => file === mistake.file && start < mistake.start)
    .reduce((sum, { start, end, put }) => sum + put.length - (end - start), 0)
  const [from, to] = placeOf(mistake)
  return { ...mistake, at: [from + by, to + by] }
}

/** The share of results that meet each measure, and that meet all of them. */
export function sharesOf(results: readonly Scored[]): Record<Measure | "all", number> {
  const share = (holds: (result: Scored) => boolean): number => results.filter(holds).length / results.length
  const each = Object.fromEntries(measures.map((measure) => [measure, share(({ met }) => met[measure])]))
  return {
    ...(each as Record<Measure, number>),
    all: share(({ met }) => measures.every((measure) => met[measure])),
  }
}
