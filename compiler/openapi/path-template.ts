import { shown } from "../core/shown.ts"

/** A path of a document as routes have it, or why none can be it. */
export type RoutePath =
  | { readonly path: string; readonly names: ReadonlyMap<string, string> }
  | { readonly problem: string }

/**
 * The route of a path template. Parameters whose names no route allows (`order-id`) get one it does; a slash at the end means nothing.
 *
 * @example
 * routePath("/orders/{order-id}/") // { path: "/orders/{order_id}", names: order-id → order_id }
 */
export function routePath(template: string): RoutePath {
  if (!template.startsWith("/")) return { problem: `\`${shown(template)}\` does not start with \`/\`` }
  if (/[?#]/.test(template)) return { problem: `\`${shown(template)}\` holds a query or fragment` }
  const names = new Map<string, string>()
  const segments: string[] = []
  const trimmed = template.length > 1 && template.endsWith("/") ? template.slice(0, -1) : template
  for (const segment of trimmed === "/" ? [] : trimmed.slice(1).split("/")) {
    const parameter = /^\{([^{}]+)\}$/.exec(segment)?.[1]
    if (parameter !== undefined) {
      if (names.has(parameter)) return { problem: `the parameter \`${shown(parameter)}\` is there twice` }
      names.set(parameter, nameFor(parameter, new Set(names.values())))
      segments.push(`{${names.get(parameter)}}`)
      continue
    }
    if (/[{}]/.test(segment))
      return {
        problem: `\`${shown(segment)}\` is only partly a parameter: a parameter of a route is a whole segment`,
      }
    const text = plainSegment(segment)
    if (text === undefined) return { problem: `\`${shown(segment)}\` can't be in a canonical path` }
    segments.push(text)
  }
  return { path: `/${segments.join("/")}`, names }
}

/** The shape two paths share that answer the same requests. */
export function shapeOf(path: string): string {
  return path.replace(/\{[^}]*\}/g, "{}")
}

function plainSegment(segment: string): string | undefined {
  let text: string
  try {
    text = decodeURIComponent(segment)
  } catch {
    return undefined
  }
  return /^[A-Za-z0-9._~!$&'()*+,=:@-]+$/.test(text) && !text.endsWith(".") ? text : undefined
}

const reserved = ["__proto__", "constructor", "prototype"]

function nameFor(parameter: string, taken: ReadonlySet<string>): string {
  const plain = parameter.replace(/[^A-Za-z0-9_]/g, "_").slice(0, 60)
  const name = /^[A-Za-z_]/.test(plain) && !reserved.includes(plain) ? plain : `p_${plain}`
  let free = name
  for (let count = 2; taken.has(free); count += 1) free = `${name}_${count}`
  return free
}
