import { posix } from "node:path"
import { type Import, type Module, readModule } from "./module.ts"
import type { limits as projectLimits, Room } from "./rooms.ts"

/** Rules a file can break. */
export type Rule =
  | "arrow"
  | "barrel"
  | "cycle"
  | "documentation"
  | "door"
  | "file name"
  | "function length"
  | "import"
  | "package"
  | "room"
  | "syntax"

/** One breach: `file:line  rule: what`. */
export interface Breach {
  readonly rule: Rule
  readonly place: string
  readonly text: string
}

/** Source files by path from the top, with `/`. */
export type Tree = ReadonlyMap<string, string>

interface House {
  readonly modules: ReadonlyMap<string, Module>
  readonly rooms: readonly Room[]
  readonly limits: typeof projectLimits
}

/** Tests may import anything; the other rules hold for them too. */
const isTest = (path: string) => path.startsWith("test/")

/** All breaches of a tree against a table of rooms. */
export function breachesOf(tree: Tree, rooms: readonly Room[], limits: typeof projectLimits): Breach[] {
  const modules = new Map([...tree].map(([path, text]) => [path, readModule(path, text)]))
  const house: House = { modules, rooms, limits }
  return [
    ...tableBreaches(house),
    ...[...modules.values()].flatMap((module) => [
      ...formBreaches(module, house),
      ...roomBreaches(module, house),
      ...module.imports.flatMap((found) => importBreaches(module, found, house)),
    ]),
    ...cycleBreaches(modules),
  ]
}

/** The row a file belongs to. */
export function roomOf(path: string, rooms: readonly Room[]): Room | undefined {
  return rooms
    .filter((room) => path === room.path || path.startsWith(`${room.path}/`))
    .sort((a, b) => b.path.length - a.path.length)[0]
}

/** `imports` of package.json that lead to sources: what they are in Node.js. The files for browsers beside them have the same exports. */
const ownImports: Readonly<Record<string, string>> = {
  "#platform": "runtime/platform/node.ts",
  "#keys": "runtime/platform/node-keys.ts",
}

/** Where an import leads that is relative, or of `imports` in package.json; undefined for any other. */
export function targetOf(from: string, specifier: string): string | undefined {
  const own = ownImports[specifier]
  if (own !== undefined) return own
  return specifier.startsWith(".") ? posix.join(posix.dirname(from), specifier) : undefined
}

function tableBreaches({ rooms }: House): Breach[] {
  const known = new Set(rooms.map((room) => room.path))
  const unknown = rooms.flatMap((room) =>
    [...room.may, ...(room.lazily ?? [])]
      .filter((path) => !known.has(path))
      .map((path) => breach("room", room.path, `its row names \`${path}\`, which has no row`)),
  )
  const edges = new Map(rooms.map((room) => [room.path, room.may.filter((path) => path !== room.path)]))
  return [
    ...unknown,
    ...cyclesOf(edges).map((cycle) =>
      breach("cycle", cycle[0] as string, `rooms in a circle: ${cycle.join(" → ")}`),
    ),
  ]
}

function formBreaches(module: Module, { limits }: House): Breach[] {
  const { path } = module
  const found = module.errors.map((error) => breach("syntax", path, error))
  const name = posix.basename(path)
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.(tsx?|mjs)$/.test(name))
    found.push(breach("file name", path, "is not kebab-case"))
  if (/^index\./.test(name)) found.push(breach("barrel", path, "name the file for what it holds"))
  for (const line of module.reExports)
    found.push(
      breach(
        "barrel",
        `${path}:${line}`,
        "exports something of another file: import it where it is declared",
      ),
    )
  for (const { name: called, line, lines } of module.functions)
    if (lines > limits.functionLines)
      found.push(
        breach(
          "function length",
          `${path}:${line}`,
          `${called} has ${lines} lines, more than ${limits.functionLines}`,
        ),
      )
  return found
}

function roomBreaches(module: Module, { rooms }: House): Breach[] {
  if (isTest(module.path)) return []
  const room = roomOf(module.path, rooms)
  if (!room)
    return [breach("room", module.path, "belongs to no room: give it a row in test/structure/rooms.ts")]
  if (!isDoor(module.path, room)) return []
  return module.undocumented.map(({ name, line }) =>
    breach(
      "documentation",
      `${module.path}:${line}`,
      `\`${name}\` is exported from a door and has no docblock`,
    ),
  )
}

function importBreaches(module: Module, found: Import, house: House): Breach[] {
  const place = `${module.path}:${found.line}`
  const { specifier } = found
  if (specifier === undefined)
    return module.path.endsWith(".mjs")
      ? []
      : [breach("import", place, "`import()` of something that is not a literal")]
  const target = targetOf(module.path, specifier)
  if (target === undefined) return isTest(module.path) ? [] : packageBreaches(module, place, specifier, house)
  if (target.endsWith(".json")) return []
  if (!house.modules.has(target)) return [breach("import", place, `\`${specifier}\` is not a source file`)]
  return isTest(module.path) ? [] : arrowBreaches(module, found, place, target, house)
}

function packageBreaches(module: Module, place: string, specifier: string, { rooms }: House): Breach[] {
  const room = roomOf(module.path, rooms)
  if (!room) return []
  if (specifier.startsWith("node:")) {
    const builtins = room.builtins ?? []
    if (builtins === "any" || builtins.includes(specifier)) return []
    return [breach("package", place, `${room.path} may not import ${specifier}`)]
  }
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/")
  return room.packages?.includes(name)
    ? []
    : [breach("package", place, `${room.path} may not import ${name}`)]
}

function arrowBreaches(
  module: Module,
  found: Import,
  place: string,
  target: string,
  { rooms }: House,
): Breach[] {
  const from = roomOf(module.path, rooms)
  if (isTest(target)) return [breach("arrow", place, `imports ${target}, a test`)]
  const to = roomOf(target, rooms)
  if (!from || !to || from === to) return []
  if (!from.may.includes(to.path)) {
    const lazily = from.lazily?.includes(to.path)
    if (!lazily) return [breach("arrow", place, `${from.path} may not import ${to.path}`)]
    if (!found.lazy)
      return [breach("arrow", place, `${from.path} may import ${to.path} only by \`import()\``)]
  }
  return isDoor(target, to) ? [] : [breach("door", place, `${target} is not a door of ${to.path}`)]
}

function isDoor(path: string, room: Room): boolean {
  return path === room.path || room.doors.some((door) => path.replace(/x$/, "") === `${room.path}/${door}.ts`)
}

function cycleBreaches(modules: ReadonlyMap<string, Module>): Breach[] {
  const edges = new Map<string, string[]>()
  for (const module of modules.values())
    edges.set(
      module.path,
      module.imports.flatMap(({ specifier }) => {
        const target = specifier === undefined ? undefined : targetOf(module.path, specifier)
        return target !== undefined && modules.has(target) ? [target] : []
      }),
    )
  return cyclesOf(edges).map((cycle) => breach("cycle", cycle[0] as string, cycle.join(" → ")))
}

/** Each circle that a walk along the edges closes, once; the walk visits every node once. */
function cyclesOf(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>()
  const path: string[] = []
  const cycles: string[][] = []
  const visit = (node: string) => {
    const at = path.indexOf(node)
    if (at !== -1) cycles.push([...path.slice(at), node])
    if (at !== -1 || done.has(node)) return
    path.push(node)
    for (const next of edges.get(node) ?? []) visit(next)
    path.pop()
    done.add(node)
  }
  for (const node of edges.keys()) visit(node)
  return cycles
}

function breach(rule: Rule, place: string, text: string): Breach {
  return { rule, place, text }
}
