import { portalFileMax, portalPagesMax } from "../../runtime/plan/portal.ts"
import type { Report } from "../core/diagnostic.ts"
import { isPattern } from "../core/glob.ts"
import type { Project } from "../core/load.ts"
import { shown } from "../core/shown.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { type BoundStatement, statementOf, statementsOf } from "./bind/bound.ts"
import type { Program } from "./program.ts"

/** A Markdown file of the portal, and where it is named. */
interface PageFile {
  readonly file: SourceFile
  readonly span: Span
}

/** The files that `portal` names; undefined: it names none, or the file cannot be read (reported). */
export interface PortalFiles {
  readonly logo: string | undefined
  readonly style: string | undefined
  readonly texts: Readonly<Record<string, string>> | undefined
  readonly pages: readonly PageFile[]
}

/** Reads the files of the portal. */
export function readPortalFiles(program: Program, project: Project, report: Report): PortalFiles {
  const block = program.portal?.block
  const named = (keyword: string) => {
    const filled = statementOf(block, keyword)?.args.get("path")
    if (filled === undefined) return undefined
    const { span } = filled.argument
    const file = project.readNamed(filled.value as string, span, portalFileMax)
    return file === undefined ? undefined : { file, span }
  }
  const logo = named("logo")
  const isSvg = logo === undefined || /<svg[\s/>]/.test(logo.file.text)
  if (!isSvg)
    report.add("SP3090", logo.span, `\`${shown(logo.file.path)}\` is not an SVG image`, {
      help: "Name an SVG file: the plan contains the logo as text.",
    })
  const texts = named("texts")
  return {
    logo: isSvg ? logo?.file.text : undefined,
    style: named("style")?.file.text,
    texts: texts === undefined ? undefined : textsIn(texts.file, texts.span, report),
    pages: pagesOf(statementsOf(block, "pages"), project, report),
  }
}

/** Limits of the plan. */
const textsMax = 1000
const textMax = 2000

function textsIn(file: SourceFile, at: Span, report: Report): Record<string, string> | undefined {
  const wrong = (detail: string) => {
    report.add("SP3090", at, `\`${shown(file.path)}\` ${detail}`, {
      help: 'Write a JSON object with texts by their keys, e.g. `{ "nav.apis": "APIs" }`.',
    })
    return undefined
  }
  let json: unknown
  try {
    json = JSON.parse(file.text)
  } catch (error) {
    return wrong(`is not JSON: ${shown((error as Error).message)}`)
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) return wrong("is not a JSON object")
  const entries = Object.entries(json)
  if (entries.length > textsMax) return wrong(`has ${entries.length} texts; the maximum is ${textsMax}`)
  const bad = entries.find(
    ([key, text]) =>
      key === "" ||
      key.length > 100 ||
      typeof text !== "string" ||
      text.length > textMax ||
      key === "__proto__",
  )
  if (bad !== undefined) return wrong(`has no text of at most ${textMax} characters at \`${shown(bad[0])}\``)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function pagesOf(statements: readonly BoundStatement[], project: Project, report: Report): PageFile[] {
  const found = new Map<string, PageFile>()
  for (const { args } of statements) {
    const filled = args.get("path")
    if (filled === undefined) continue
    const [path, { span }] = [filled.value as string, filled.argument]
    const files = isPattern(path)
      ? project.match(path, span).map((each) => project.read(each, span, portalFileMax))
      : [project.readNamed(path, span, portalFileMax)]
    for (const file of files)
      if (file !== undefined && !found.has(file.path)) found.set(file.path, { file, span })
  }
  const pages = [...found.values()]
  const tooMany = pages[portalPagesMax]
  if (tooMany !== undefined)
    report.add("SP3016", tooMany.span, `there are ${pages.length} pages; the maximum is ${portalPagesMax}`)
  return pages.slice(0, portalPagesMax)
}
