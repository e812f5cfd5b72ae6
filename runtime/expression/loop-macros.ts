import { operatorNode } from "./operators.ts"
import { reservedWords } from "./source-characters.ts"
import type { LoopMacro, LoopNode, TreeNode } from "./syntax-tree.ts"
import { simpleTypes } from "./types.ts"

/** A form of a macro: how many names come first, and what follows them. */
interface MacroForm {
  readonly macro: LoopMacro
  readonly names: 1 | 2
  readonly has: readonly ("test" | "result")[]
}

const quantifiers = ["all", "exists", "exists_one"] as const
const transforms = ["transformList", "transformMap", "transformMapEntry"] as const

function form(macro: LoopMacro, names: 1 | 2, ...has: ("test" | "result")[]): MacroForm {
  return { macro, names, has }
}

/** By name of the macro. */
const forms: ReadonlyMap<string, readonly MacroForm[]> = new Map<string, readonly MacroForm[]>([
  ...quantifiers.map((macro): [string, MacroForm[]] => [
    macro,
    [form(macro, 1, "test"), form(macro, 2, "test")],
  ]),
  ["existsOne", [form("exists_one", 1, "test"), form("exists_one", 2, "test")]],
  ["filter", [form("filter", 1, "test")]],
  ["map", [form("map", 1, "result"), form("map", 1, "test", "result")]],
  ...transforms.map((macro): [string, MacroForm[]] => [
    macro,
    [form(macro, 2, "result"), form(macro, 2, "test", "result")],
  ]),
])

/** The correct form of each macro, for messages. */
export const macroForms: ReadonlyMap<string, string> = new Map([
  ["all", "`list.all(x, condition)`"],
  ["exists", "`list.exists(x, condition)`"],
  ["exists_one", "`list.exists_one(x, condition)`"],
  ["existsOne", "`list.existsOne(x, condition)`"],
  ["filter", "`list.filter(x, condition)`"],
  ["map", "`list.map(x, value)` or `list.map(x, condition, value)`"],
  ["transformList", "`list.transformList(i, x, value)` or `list.transformList(i, x, condition, value)`"],
  ["transformMap", "`map.transformMap(k, v, value)` or `map.transformMap(k, v, condition, value)`"],
  ["transformMapEntry", "`map.transformMapEntry(k, v, {key: value})` or with a condition before the entry"],
])

/** The name of a macro's variable. Reports a mistake. */
function variableOf(node: TreeNode | undefined, report: (message: string, node: TreeNode) => void): string {
  if (node?.kind === "name" && !node.rooted) {
    if (reservedWords.has(node.name)) report(`\`${node.name}\` is a reserved word`, node)
    return node.name
  }
  if (node !== undefined) report("a name is expected here", node)
  return ""
}

/** `cel.bind(name, value, expression)`: a loop over the single value; undefined for another call. The value is evaluated first, even if it is not read. */
export function bindingOf(
  target: TreeNode,
  name: string,
  args: readonly TreeNode[],
  place: { readonly start: number; readonly end: number; readonly nameStart: number },
  report: (message: string, node: TreeNode) => void,
): TreeNode | undefined {
  const [named, value, result] = args
  const isBinding = target.kind === "name" && target.name === "cel" && name === "bind" && args.length === 3
  if (!isBinding || named === undefined || value === undefined || result === undefined) return undefined
  const { start, end } = place
  const type = simpleTypes.dyn
  const loop: LoopNode = {
    kind: "loop",
    macro: "map",
    range: { kind: "list", elements: [value], start: value.start, end: value.end, type },
    variable: variableOf(named, report),
    second: undefined,
    test: undefined,
    result,
    start,
    end,
    type,
  }
  return operatorNode("[]", [loop, { kind: "literal", value: 0n, start, end, type }], place)
}

/** The loop for a call with this name and number of arguments; undefined if there is none. */
export function loopOf(
  range: TreeNode,
  name: string,
  args: readonly TreeNode[],
  place: { readonly start: number; readonly end: number },
  report: (message: string, node: TreeNode) => void,
): LoopNode | undefined {
  const found = forms.get(name)?.find(({ names, has }) => names + has.length === args.length)
  if (found === undefined) return undefined
  const { macro, names, has } = found
  const [first, other] = args
  const variable = variableOf(first, report)
  const second = names === 2 ? variableOf(other, report) : undefined
  if (second === variable && other !== undefined) report("the two variables must differ", other)
  const part = (what: "test" | "result") => (has.includes(what) ? args[names + has.indexOf(what)] : undefined)
  const { start, end } = place
  return {
    kind: "loop",
    macro,
    range,
    variable,
    second,
    test: part("test"),
    result: part("result"),
    start,
    end,
    type: simpleTypes.dyn,
  }
}
