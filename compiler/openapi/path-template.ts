import { shown } from "../core/shown.ts"

/** The path of a route for a path of the document, or why there is none. */
export type DocumentPath =
  | { readonly path: string; readonly names: ReadonlyMap<string, string> }
  | { readonly problem: string }

/**
 * The route of a path template. Parameter names that routes do not allow (`order-id`) are replaced by valid ones; a slash at the end is
 * ignored.
 *
 * @example
 * routePath("/orders/{order-id}:cancel/") // { path: "/orders/{order_id}:cancel", names: order-id → order_id }
 */
export function routePath(template: string): DocumentPath {
  if (!template.startsWith("/")) return { problem: `\`${shown(template)}\` does not start with \`/\`` }
  if (/[?#]/.test(template)) return { problem: `\`${shown(template)}\` contains a query or fragment` }
  const names = new Map<string, string>()
  const trimmed = template.length > 1 && template.endsWith("/") ? template.slice(0, -1) : template
  const segments: string[] = []
  for (const segment of trimmed === "/" ? [] : trimmed.slice(1).split("/")) {
    const made = routeSegment(segment, names)
    if (typeof made !== "string") return made
    segments.push(made)
  }
  return { path: `/${segments.join("/")}`, names }
}

/** A segment in the form of routes. Adds the names of its parameters to `names`. */
function routeSegment(segment: string, names: Map<string, string>): string | { readonly problem: string } {
  const noText = { problem: `\`${shown(segment)}\` cannot occur in a canonical path` }
  const literals = segment.split(/\{[^{}]+\}/)
  if (segment === "" || segment.endsWith(".") || literals.some((literal) => /[{}]/.test(literal)))
    return noText
  if (literals.slice(1, -1).includes(""))
    return {
      problem: `\`${shown(segment)}\` has two parameters with nothing between them, so the end of the first one is ambiguous`,
    }
  const texts = literals.map(plainText)
  let made = texts[0] ?? ""
  for (const [at, [, parameter = ""]] of [...segment.matchAll(/\{([^{}]+)\}/g)].entries()) {
    if (names.has(parameter)) return { problem: `the parameter \`${shown(parameter)}\` is given twice` }
    names.set(parameter, nameFor(parameter, new Set(names.values())))
    made = `${made}{${names.get(parameter)}}${texts[at + 1] ?? ""}`
  }
  return texts.includes(undefined) || made.endsWith(".") ? noText : made
}

/** The shape of a path. Two paths with the same shape match the same requests. */
export function shapeOf(path: string): string {
  return path.replace(/\{[^}]*\}/g, "{}")
}

function plainText(literal: string): string | undefined {
  try {
    const text = decodeURIComponent(literal)
    return /^[A-Za-z0-9._~!$&'()*+,=:@-]*$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

const reserved = ["__proto__", "constructor", "prototype"]

function nameFor(parameter: string, taken: ReadonlySet<string>): string {
  const plain = parameter.replace(/[^A-Za-z0-9_]/g, "_").slice(0, 60)
  const name = /^[A-Za-z_]/.test(plain) && !reserved.includes(plain) ? plain : `p_${plain}`
  let free = name
  for (let count = 2; taken.has(free); count += 1) free = `${name}_${count}`
  return free
}
