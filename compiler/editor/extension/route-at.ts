/** A block of gateway.conf around an offset: its keyword with the arguments, and its own statements so far. */
interface OpenBlock {
  readonly head: string
  readonly statements: string[]
}

/** Strings, comments, signs of the syntax, and what is between them: a brace in a string opens no block. */
const parts = /"(?:[^"\\\n]|\\.)*"?|(?:^|(?<=[\s;{}]))#[^\n]*|[{};\n]|[^"{};\n#]+|#/g
const restOfHead = /^(?:"(?:[^"\\\n]|\\.)*"?|[^"{};\n])*/
const operation = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|ANY)\s+"([^"]*)"/

/**
 * The request of the operation at an offset of gateway.conf, such as `GET /v1/orders/{id}`; undefined: the offset is in none. It is a proposal that
 * a person completes, so it reads only the paths and versions that are written in the blocks around it.
 */
export function routeAt(text: string, offset: number): string | undefined {
  const open: OpenBlock[] = [{ head: "", statements: [] }]
  let current = ""
  let end = 0
  for (const { 0: part, index } of text.matchAll(parts)) {
    if (index >= offset) break
    end = index + part.length
    if (part.startsWith("#")) continue
    if (!/^[{};\n]$/.test(part)) {
      current += part
      continue
    }
    const statement = current.trim()
    current = ""
    if (part === "{") open.push({ head: statement, statements: [] })
    else if (statement !== "") open.at(-1)?.statements.push(statement)
    if (part === "}" && open.length > 1) open.pop()
  }
  const own = `${current}${restOfHead.exec(text.slice(end))?.[0] ?? ""}`.trim()
  const heads = [...open.map(({ head }) => head), own]
  const [, method, path] = heads.map((head) => operation.exec(head)).findLast((each) => each !== null) ?? []
  if (method === undefined || path === undefined) return undefined
  const version = heads.map((head) => /^version\s+(\w+)/.exec(head)?.[1]).findLast((each) => each)
  const bases = open.flatMap(({ statements }) =>
    statements.map((each) => /^path\s+"([^"]*)"/.exec(each)?.[1]),
  )
  const base = bases.findLast((each) => each !== undefined) ?? ""
  const whole = [version === undefined ? "" : `/${version}`, base, path === "/" ? "" : path].join("")
  return `${method === "ANY" ? "GET" : method} ${whole === "" ? "/" : whole}`
}
