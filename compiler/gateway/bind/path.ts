import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Text } from "../ast.ts"
import type { Slot } from "../schema/row.ts"
import { readConstant } from "./names.ts"

/** One segment of a route: text, `{name}` or a last `{name*}`. */
export interface Segment {
  readonly kind: "static" | "parameter" | "tail"
  /** The text, or the parameter's name. */
  readonly text: string
}

/** A path of an API or an operation; `/` has no segments. */
export interface RoutePath {
  readonly segments: readonly Segment[]
}

const segmentsMax = 64

/** Parses `"/{id}/items/{rest*}"`. The `path` of an API or has no parameters; that is the caller's check. */
export function readPath(text: Text, slot: Slot, report: Report): RoutePath | undefined {
  const value = readConstant(text, slot, report)
  if (value === undefined) return undefined
  const problem = pathProblem(value)
  if (problem !== undefined) {
    report.add("SP3001", text.span, problem.why, { help: problem.help })
    return undefined
  }
  return { segments: segmentsOf(value) }
}

/** The segments of a path that is right. */
export function segmentsOf(path: string): Segment[] {
  return path === "/" ? [] : path.slice(1).split("/").map(segmentOf)
}

/** The path as it is written, `/` for none. */
export function printPath(segments: readonly Segment[]): string {
  if (segments.length === 0) return "/"
  return segments
    .map(({ kind, text }) => `/${kind === "static" ? text : kind === "tail" ? `{${text}*}` : `{${text}}`}`)
    .join("")
}

function segmentOf(text: string): Segment {
  const found = /^\{([^}*]*)(\*?)\}$/.exec(text)
  if (found === null) return { kind: "static", text }
  return { kind: found[2] === "*" ? "tail" : "parameter", text: found[1] as string }
}

interface Problem {
  readonly why: string
  readonly help: string
}

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
    const problem =
      text.includes("{") || text.includes("}")
        ? parameterProblem(text, index === texts.length - 1, names)
        : staticProblem(text)
    if (problem !== undefined) return problem
  }
  return undefined
}

function staticProblem(text: string): Problem | undefined {
  const help =
    "Use letters, digits and `-._~!$&'()*+,=:@` in a segment; other characters can't be in a canonical path."
  if (text === "") return { why: "the path has an empty segment (`//`)", help: "Remove one `/`." }
  if (text.endsWith(".")) {
    return {
      why: `\`${shown(text)}\` ends with a dot: no canonical path has such a segment`,
      help: "Leave the dot out, or write the path it stands for.",
    }
  }
  if (/[?#]/.test(text))
    return {
      why: `\`${shown(text)}\` holds a query or fragment`,
      help: 'Paths are matched without them; use `request.query("…")` in a condition.',
    }
  if (/^[A-Za-z0-9._~!$&'()*+,=:@-]+$/.test(text)) return undefined
  return { why: `\`${shown(text)}\` holds characters no route can match`, help }
}

function parameterProblem(text: string, last: boolean, names: Set<string>): Problem | undefined {
  const found = /^\{([A-Za-z_][A-Za-z0-9_]{0,63})(\*?)\}$/.exec(text)
  if (found === null) {
    return {
      why: `\`${shown(text)}\` is not a parameter`,
      help: "A parameter is a whole segment: `/{name}`, with letters, digits and `_`; the last may be `/{name*}`.",
    }
  }
  if (found[2] === "*" && !last)
    return {
      why: `\`${text}\` takes all the rest, but is not the last segment`,
      help: "Move it to the end, or use a plain parameter.",
    }
  const name = found[1] as string
  if (["__proto__", "constructor", "prototype"].includes(name))
    return { why: `\`${name}\` can't be a parameter`, help: "Choose another name." }
  if (names.has(name))
    return { why: `the parameter \`${name}\` is there twice`, help: "Give one of them another name." }
  names.add(name)
  return undefined
}
