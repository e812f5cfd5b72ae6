import {
  pathTemplates,
  type SegmentTemplate,
  segmentTemplate,
  shapeOfSegment,
} from "../../../runtime/plan/segment-template.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { TextArgument } from "../ast.ts"
import type { Slot } from "../schema/row.ts"
import { readConstant } from "./names.ts"

/** A path of an API or an operation; `/` has no segments. */
export interface RoutePath {
  readonly segments: readonly SegmentTemplate[]
}

const segmentsMax = 64

/**
 * Parses `"/{id}/items/{rest*}"`. Parameters are also accepted where the path must have none (the `path` of an API): the caller checks
 * that.
 */
export function readPath(text: TextArgument, slot: Slot, report: Report): RoutePath | undefined {
  const value = readConstant(text, slot, report)
  if (value === undefined) return undefined
  const problem = pathProblem(value)
  if (problem !== undefined) {
    report.add("SP3001", text.span, problem.why, { help: problem.help })
    return undefined
  }
  const foreign = value.split("/").find((segment) => parameterMeant(segment) !== undefined)
  if (foreign !== undefined)
    report.add(
      "SP3043",
      text.span,
      `\`${foreign}\` matches only these characters literally; did you mean \`${parameterMeant(foreign)}\`?`,
    )
  return { segments: segmentsOf(value) }
}

/** The segments of a valid path. */
export function segmentsOf(path: string): SegmentTemplate[] {
  return pathTemplates(path) ?? []
}

/** A segment without parameters. */
export function staticSegment(text: string): SegmentTemplate {
  return { kind: "static", literals: [text], names: [] }
}

export function isStatic({ kind }: SegmentTemplate): boolean {
  return kind === "static"
}

/** The path as written in gateway.conf; `/` for no segments. */
export function printPath(segments: readonly SegmentTemplate[]): string {
  return segments.length === 0 ? "/" : segments.map((segment) => `/${printSegment(segment)}`).join("")
}

function printSegment({ kind, literals, names }: SegmentTemplate): string {
  const tail = kind === "tail" ? "*" : ""
  return literals
    .map((literal, at) => (names[at] === undefined ? literal : `${literal}{${names[at]}${tail}}`))
    .join("")
}

/** The path without the names of its parameters. Paths of one shape match the same requests. */
export function shapeOfPath(segments: readonly SegmentTemplate[]): string {
  return `/${segments.map(shapeOfSegment).join("/")}`
}

interface Problem {
  readonly why: string
  readonly help: string
}

/** The first problem of a path. Only one is reported: a path with two is usually not meant as a path. */
function pathProblem(path: string): Problem | undefined {
  if (!path.startsWith("/"))
    return { why: `\`${shown(path)}\` does not start with \`/\``, help: `Write \`/${shown(path)}\`.` }
  if (path.length > 1024) return { why: "the path is longer than 1024 characters", help: "Shorten it." }
  if (path === "/") return undefined
  if (path.endsWith("/"))
    return { why: `\`${shown(path)}\` ends with \`/\``, help: `Write \`${shown(path.slice(0, -1))}\`.` }
  const texts = path.slice(1).split("/")
  if (texts.length > segmentsMax)
    return { why: `the path has more than ${segmentsMax} segments`, help: "Shorten it." }
  const names = new Set<string>()
  for (const [index, text] of texts.entries()) {
    const problem = segmentProblem(text, index === texts.length - 1) ?? namesProblem(text, names)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The parameter, if the segment is written in another router's syntax. */
function parameterMeant(segment: string): string | undefined {
  if (segment === "*" || segment === "**") return "{rest*}"
  const name = /^(?::(\w+)|<(?:\w+:)?(\w+)>|\[(\w+)\])$/.exec(segment)?.slice(1).find(Boolean)
  return name === undefined ? undefined : `{${name}}`
}

const help =
  "Use letters, digits and `-._~!$&'()*+,=:@` in a segment; a canonical path contains no other characters."

/** Segments are compared after percent-decoding and without `.` and `..`, so text that a canonical path cannot have would never match. */
function segmentProblem(text: string, last: boolean): Problem | undefined {
  const template = segmentTemplate(text)
  if (template === undefined) return bracesProblem(text)
  if (template.kind === "tail" && !last)
    return {
      why: `\`${text}\` matches the rest of the path, but is not the last segment`,
      help: "Move it to the end, or use a plain parameter.",
    }
  if (text === "") return { why: "the path has an empty segment (`//`)", help: "Remove one `/`." }
  const written = template.literals.join("")
  if (text.endsWith(".")) {
    return {
      why: `\`${shown(text)}\` ends with a dot, and no canonical path has such a segment`,
      help: "Remove the dot, or write the path without `.` and `..` segments.",
    }
  }
  if (/[?#]/.test(written))
    return {
      why: `\`${shown(text)}\` contains a query or fragment`,
      help: 'Remove it: paths are matched without query and fragment. Use `request.query("…")` in a condition.',
    }
  if (/^[A-Za-z0-9._~!$&'()*+,=:@-]*$/.test(written)) return undefined
  const meant = parameterMeant(text)
  return {
    why: `\`${shown(text)}\` contains characters that no route can match`,
    help: meant === undefined ? help : `Write \`${meant}\` for a parameter.`,
  }
}

/** Says which rule on `{…}` the segment breaks. */
function bracesProblem(text: string): Problem {
  if (/\{\w+\}\{\w+\}/.test(text))
    return {
      why: `\`${shown(text)}\` has two parameters with nothing between them, so the end of the first one is ambiguous`,
      help: "Make them one parameter, or write text between them.",
    }
  if (/\{\w+\*\}/.test(text))
    return {
      why: `\`${shown(text)}\` has text next to a parameter for the rest of the path`,
      help: "Make `{name*}` a whole segment, the last one of the path.",
    }
  return {
    why: `\`${shown(text)}\` is not a parameter`,
    help: "Write a parameter as `{name}`, with letters, digits and `_`. It is a whole segment or a part of one (`{id}:cancel`); the last segment may be `{name*}`.",
  }
}

/** Names become variables of expressions, so they must be identifiers of CEL and unique in the route. */
function namesProblem(text: string, names: Set<string>): Problem | undefined {
  for (const name of segmentTemplate(text)?.names ?? []) {
    if (!/^[A-Za-z_]\w{0,63}$/.test(name) || reserved.includes(name))
      return { why: `\`${shown(name)}\` is not a valid parameter name`, help: "Choose another name." }
    if (names.has(name))
      return { why: `the parameter \`${name}\` is given twice`, help: "Give one of them another name." }
    names.add(name)
  }
  return undefined
}

const reserved = ["__proto__", "constructor", "prototype"]
