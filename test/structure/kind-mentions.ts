import { parseSync, Visitor } from "oxc-parser"
import type { Tree } from "./rules.ts"

/** The tables of all kinds. */
const tables: ReadonlySet<string> = new Set([
  "runtime/plan/steps.ts",
  "compiler/gateway/step-texts.ts",
  "compiler/gateway/schema/steps.ts",
  "runtime/policies/table.ts",
])

/** Types that take a kind as an argument. */
const typesOfKinds: ReadonlySet<string> = new Set(["StepOf", "StepText", "Fields", "Policy"])

/** Imports of the files of a kind. */
const ownFile =
  /\/(?:steps|access|bodies|cache|credentials|flow|limits|messages|services|validation)\/([a-z-]+)\.ts$/

/** Files whose words are others': the grammar's tables, in which blocks have names, and the wing for policy documents, whose elements have. */
const otherWords = /^(?:compiler\/gateway\/schema|compiler\/azure|runtime\/azure)\//

/**
 * The files of the product that name a kind of step, for each kind. Not counted are its own files (`own`), the tables of all kinds and of the grammar, and one file in each half of the wing for
 * policy documents, where the kind's element is. A file names a kind by a literal that stands for a kind (`kind: "when"`), a kind of several words (`set-header`) by every literal of that text but where
 * elements and blocks have such names; or by an import of one of its files.
 */
export function kindMentions(
  tree: Tree,
  own: ReadonlyMap<string, ReadonlySet<string>>,
): Map<string, readonly string[]> {
  const found = new Map<string, string[]>([...own.keys()].map((kind) => [kind, []]))
  for (const [path, text] of [...tree].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (!/^(?:compiler|runtime)\/.*\.ts$/.test(path) || tables.has(path)) continue
    for (const kind of wordsOf(path, text))
      if (own.get(kind)?.has(path) === false) found.get(kind)?.push(path)
  }
  return new Map([...found].map(([kind, paths]) => [kind, withoutHomes(paths)]))
}

/** Without the first file of either half of the wing. */
function withoutHomes(paths: readonly string[]): string[] {
  const homes = ["compiler/azure/", "runtime/azure/"].map((half) =>
    paths.find((path) => path.startsWith(half)),
  )
  return paths.filter((path) => !homes.includes(path))
}

/** Words of a file that may be kinds of steps. */
function wordsOf(path: string, text: string): Set<string> {
  const found = new Set<string>()
  const literal = (node: Node | null | undefined) => {
    if (node?.type === "Literal" && "value" in node) found.add(String(node.value))
  }
  /** Every literal and key of a piece of code that holds kinds and little else. */
  const all = ({ start, end }: Node) => {
    for (const [, one, other] of text.slice(start, end).matchAll(/"([a-z-]+)"|\b([a-z]+):/g))
      found.add(one ?? other ?? "")
  }
  const typed = (type: Node | null | undefined, value: Node | null) => {
    if (type && value && /\bStepKind\b|\bStep\["kind"\]/.test(text.slice(type.start, type.end))) all(value)
  }
  new Visitor({
    Literal(node) {
      if (typeof node.value === "string" && node.value.includes("-") && !otherWords.test(path))
        found.add(node.value)
    },
    ImportDeclaration({ source }) {
      const file = ownFile.exec(source.value)?.[1]
      if (file !== undefined && !path.startsWith("compiler/gateway/schema/")) found.add(file)
    },
    Property({ key, value }) {
      if (key.type !== "Identifier" || key.name !== "kind") return
      literal(value.type === "TSAsExpression" ? value.expression : value)
    },
    TSPropertySignature({ key, typeAnnotation }) {
      if (key.type === "Identifier" && key.name === "kind" && typeAnnotation) all(typeAnnotation)
    },
    BinaryExpression({ left, right }) {
      if (isKind(left)) literal(right)
    },
    SwitchStatement({ discriminant, cases }) {
      if (isKind(discriminant)) for (const { test } of cases) literal(test)
    },
    TSTypeReference({ typeName, typeArguments }) {
      if (typeName.type === "Identifier" && typesOfKinds.has(typeName.name) && typeArguments)
        all(typeArguments)
    },
    VariableDeclarator({ id, init }) {
      typed(id.typeAnnotation, init)
    },
    TSSatisfiesExpression({ typeAnnotation, expression }) {
      typed(typeAnnotation, expression)
    },
  }).visit(parseSync(path, text).program)
  return found
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** Whether an expression yields a kind, by what it is called. */
function isKind(node: Node): boolean {
  if ("expression" in node) return isKind(node.expression as Node)
  if ("property" in node) return isKind(node.property as Node)
  return "name" in node && node.name === "kind"
}
