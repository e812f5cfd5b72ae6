import { type Comment, type Program, parseSync, Visitor } from "oxc-parser"

/** One import, of whatever form: `import`, `import type`, `import()`, `import("…").Type`, `export … from`. */
export interface Import {
  readonly specifier: string | undefined
  /** Nothing of it is loaded when the importing file is: a type, or `import()`. */
  readonly lazy: boolean
  readonly line: number
}

/** A named piece of a file, and the lines it takes. */
export interface Piece {
  readonly name: string
  readonly line: number
  readonly lines: number
}

/** What the rules need to know of a file. */
export interface Module {
  readonly path: string
  readonly lines: number
  readonly imports: readonly Import[]
  /** Lines with `export … from`, or with an export of something imported. */
  readonly reExports: readonly number[]
  readonly functions: readonly Piece[]
  readonly undocumented: readonly Piece[]
  /** Names of the types it declares and exports: interfaces, aliases, classes, enums. */
  readonly types: readonly string[]
  readonly errors: readonly string[]
}

type Node = Program["body"][number]

/** Reads a file by its syntax tree. */
export function readModule(path: string, text: string): Module {
  const { program, module, comments, errors } = parseSync(path, text)
  const lineOf = lineCounter(text)
  const imports: Import[] = module.staticImports.map((found) => ({
    specifier: found.moduleRequest.value,
    lazy: found.entries.length > 0 && found.entries.every((entry) => entry.isType),
    line: lineOf(found.start),
  }))
  const reExports: number[] = []
  for (const found of module.staticExports)
    for (const entry of found.entries) {
      if (entry.moduleRequest === null) continue
      reExports.push(lineOf(entry.start))
      imports.push({ specifier: entry.moduleRequest.value, lazy: entry.isType, line: lineOf(entry.start) })
    }
  imports.push(...inner(program, lineOf))
  return {
    path,
    lines: text.split("\n").length - (text.endsWith("\n") ? 1 : 0),
    imports,
    reExports,
    functions: functionsOf(program, lineOf),
    undocumented: undocumented(program, comments, text, lineOf),
    types: typesOf(program),
    errors: errors.map((error) => error.message),
  }
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}

/** Imports below the top level. */
function inner(program: Program, lineOf: (offset: number) => number): Import[] {
  const found: Import[] = []
  const add = (source: { type: string; value?: unknown }, start: number) => {
    const specifier = source.type === "Literal" && typeof source.value === "string" ? source.value : undefined
    found.push({ specifier, lazy: true, line: lineOf(start) })
  }
  new Visitor({
    ImportExpression: (node) => add(node.source, node.start),
    TSImportType: (node) => add(node.source, node.start),
  }).visit(program)
  return found
}

/**
 * Every function with its length, but for the bodies of `describe` and its relatives in tests: those are lists of tests.
 */
function functionsOf(program: Program, lineOf: (offset: number) => number): Piece[] {
  const found: Piece[] = []
  const lists = new Set<number>()
  const names = new Map<number, string>()
  const add = (node: { start: number; end: number; id?: { name: string } | null }) => {
    if (lists.has(node.start)) return
    const line = lineOf(node.start)
    const name = node.id?.name ?? names.get(node.start) ?? "function"
    found.push({ name, line, lines: lineOf(node.end - 1) - line + 1 })
  }
  new Visitor({
    CallExpression(node) {
      const callee = node.callee
      if (callee.type !== "Identifier" || !callee.name.startsWith("describe")) return
      for (const argument of node.arguments) lists.add(argument.start)
    },
    VariableDeclarator(node) {
      if (node.init && node.id.type === "Identifier") names.set(node.init.start, node.id.name)
    },
    MethodDefinition(node) {
      if (node.key.type === "Identifier") names.set(node.value.start, node.key.name)
    },
    Property(node) {
      if (node.key.type === "Identifier") names.set(node.value.start, node.key.name)
    },
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
  }).visit(program)
  return found
}

const typeDeclarations: ReadonlySet<string> = new Set([
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "ClassDeclaration",
  "TSEnumDeclaration",
])

function typesOf(program: Program): string[] {
  return program.body.flatMap((node) =>
    node.type === "ExportNamedDeclaration" &&
    node.declaration !== null &&
    typeDeclarations.has(node.declaration.type)
      ? namesOf(node.declaration)
      : [],
  )
}

/**
 * Exports without a docblock right above them. Of overloads the first carries it; a schema and its type, called the
 * same but for the first letter, share one.
 */
function undocumented(
  program: Program,
  comments: readonly Comment[],
  text: string,
  lineOf: (offset: number) => number,
): Piece[] {
  const docEnds = comments
    .filter((comment) => comment.type === "Block" && comment.value.startsWith("*"))
    .map((comment) => comment.end)
  const documented = (node: Node) =>
    docEnds.some((end) => end <= node.start && text.slice(end, node.start).trim() === "")
  const declared = new Map<string, boolean>()
  const exported = new Map<string, number>()
  for (const node of program.body) {
    const isExport = node.type === "ExportNamedDeclaration" || node.type === "ExportDefaultDeclaration"
    const names = namesOf(isExport ? node.declaration : node)
    if (node.type === "ExportDefaultDeclaration" && names.length === 0) names.push("default")
    for (const name of names) {
      declared.set(name, (declared.get(name) ?? false) || documented(node))
      if (isExport) exported.set(name, node.start)
    }
    if (node.type === "ExportNamedDeclaration" && node.source === null)
      for (const specifier of node.specifiers)
        if (specifier.local.type === "Identifier") exported.set(specifier.local.name, specifier.start)
  }
  return [...exported]
    .filter(([name]) => !declared.get(name) && !declared.get(twin(name)))
    .map(([name, start]) => ({ name, line: lineOf(start), lines: 1 }))
}

/** `Check` of `check`, and the other way round. */
function twin(name: string): string {
  const first = name.charAt(0)
  return (first === first.toLowerCase() ? first.toUpperCase() : first.toLowerCase()) + name.slice(1)
}

function namesOf(node: unknown): string[] {
  if (node === null || typeof node !== "object") return []
  if ("declarations" in node && Array.isArray(node.declarations))
    return node.declarations.flatMap((declarator: { id: { name?: string } }) => declarator.id.name ?? [])
  if ("id" in node && node.id !== null && typeof node.id === "object" && "name" in node.id)
    return [String(node.id.name)]
  return []
}
