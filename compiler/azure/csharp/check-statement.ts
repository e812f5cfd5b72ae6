import { lineage, typeInfo } from "../../../runtime/azure/csharp/table.ts"
import { type CsType, named, printType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode, CsStatement } from "../../../runtime/plan/csharp.ts"
import { checkPattern } from "./check-pattern.ts"
import { checkDeconstruct } from "./check-tuple.ts"
import { change, demand, explicit } from "./conversions.ts"
import { asSequence, candidates } from "./members.ts"
import type { Scope } from "./scope.ts"
import { CsharpMistake } from "./source.ts"
import type {
  BlockSyntax,
  ExpressionSyntax,
  FunctionStatement,
  StatementSyntax,
  SwitchCase,
} from "./syntax-tree.ts"
import { isValueType, resolveType } from "./type-names.ts"
import { type Typed, typed, types } from "./typed.ts"

type Of<K extends StatementSyntax["kind"]> = Extract<StatementSyntax, { kind: K }>

/** A block with its own names. Functions are visible in the whole block, also before their declaration. */
export function checkBlock(block: BlockSyntax, scope: Scope): CsStatement {
  return { s: "block", body: checkStatements(block.body, scope.inner()) }
}

/** Statements of one block. Local functions are declared first: they can be called before their declaration. */
export function checkStatements(body: readonly StatementSyntax[], scope: Scope): CsStatement[] {
  const functions = body.filter((statement) => statement.kind === "function")
  for (const statement of functions) scope.declare(statement.name, signature(statement), statement)
  // Functions see the variables around them. So statements are checked first, then functions; the result is in execution order.
  const rest = body.filter((statement) => statement.kind !== "function")
  if (functions.length === 0) return rest.map((statement) => checkStatement(statement, scope))
  const hoisted: CsStatement[] = []
  const made = rest.map((statement) => checkStatement(statement, scope))
  for (const statement of functions) hoisted.push(defineFunction(statement, scope))
  return [...hoisted, ...made]
}

function signature({ params, result }: FunctionStatement): CsType {
  const types = params.map(({ type }) => resolveType(type))
  return result.name === "void"
    ? { name: "Action", args: types }
    : { name: "Func", args: [...types, resolveType(result)] }
}

/** A local function is a variable with a delegate. */
function defineFunction(statement: FunctionStatement, scope: Scope): CsStatement {
  const variable = scope.find(statement.name)
  const type = signature(statement)
  const params = statement.params.map(({ name }) => ({ name }))
  const { start, end } = statement
  const isVoid = type.name === "Action"
  // The last type argument of `Func` is its result.
  const given = isVoid ? type.args : type.args.slice(0, -1)
  const made = scope.rules.lambda(
    { kind: "lambda", params, body: statement.body, start, end },
    given,
    isVoid ? types.void : type.args.at(-1),
    scope,
  )
  if (made === undefined || variable === undefined)
    throw new CsharpMistake(
      "type",
      `\`${statement.name}\` does not return its declared type`,
      start,
      end,
      "Return values of its type.",
    )
  return { s: "run", on: { k: "set", slot: variable.slot, value: made.node } }
}

/** Checks a statement by itself. After a mistake its names are declared as dynamic, so that no finding follows from them. */
export function checkStatement(statement: StatementSyntax, scope: Scope): CsStatement {
  scope.work(statement)
  return scope.attempt(
    () => checkKind(statement, scope),
    () => {
      // The failed statement is remembered, because code behind it may only seem unreachable or never assigned.
      scope.shared.failed.push(statement)
      if (statement.kind === "deconstruct")
        for (const { name, declares } of statement.parts)
          if (declares && !scope.isTaken(name)) scope.declare(name, types.dynamic)
      if (statement.kind === "declare")
        for (const { name } of statement.names) if (!scope.isTaken(name)) scope.declare(name, types.dynamic)
      return { s: "block", body: [] }
    },
  )
}

/** One kind of statement each. */
function checkKind(statement: StatementSyntax, scope: Scope): CsStatement {
  switch (statement.kind) {
    case "block":
      return checkBlock(statement, scope)
    case "expression":
      return { s: "run", on: scope.rules.expression(statement.on, scope).node }
    case "declare":
      return checkDeclare(statement, scope)
    case "deconstruct":
      return checkDeconstruct(statement, scope)
    case "if":
      return checkIfStatement(statement, scope)
    case "while": {
      const inner = scope.inner()
      return {
        s: "while",
        // The body has a scope of its own: names declared there end with each repetition.
        test: condition(statement.test, inner),
        body: checkStatement(statement.body, inner.inner()),
        step: [],
        first: statement.first,
      }
    }
    case "for":
      return checkFor(statement, scope)
    case "each":
      return checkEach(statement, scope)
    case "switch":
      return checkSwitchStatement(statement, scope)
    case "return":
      return checkReturn(statement, scope)
    case "throw":
      return statement.on === undefined
        ? { s: "throw" }
        : { s: "throw", on: scope.rules.expression(statement.on, scope).node }
    case "break":
    case "continue":
      return { s: statement.kind }
    case "try":
      return checkTry(statement, scope)
    // `using` disposes nothing: values of the library hold no resources of the system.
    case "using": {
      const inner = scope.inner()
      return {
        s: "block",
        body: [checkStatement(statement.resource, inner), checkStatement(statement.body, inner)],
      }
    }
    // An empty statement, and a local function, which is defined where its block begins.
    default:
      return { s: "block", body: [] }
  }
}

function condition(test: ExpressionSyntax, scope: Scope): CsNode {
  const value = scope.operand(test)
  // C# converts a dynamic value at run time, and a failure is an exception of the policy.
  return value.type.name === "dynamic"
    ? change(value.node, types.object, types.bool)
    : demand(value, types.bool, test)
}

function checkIfStatement({ test, yes, no }: Of<"if">, scope: Scope): CsStatement {
  // As in C#, names that `is T x` and `out var x` declare in the condition stay visible after the `if`.
  const asked = condition(test, scope)
  return {
    s: "if",
    test: asked,
    yes: checkStatement(yes, scope.inner()),
    ...(no === undefined ? {} : { no: checkStatement(no, scope.inner()) }),
  }
}

/** Declarations. Without a value, value types must be assigned before they are read, others begin with null. */
function checkDeclare({ type: written, names }: Of<"declare">, scope: Scope): CsStatement {
  const body: CsStatement[] = []
  for (const { name, start, end, value } of names) {
    scope.requireFree(name, start, end)
    const made = declaredValue(
      written === undefined ? undefined : resolveType(written),
      value,
      { start, end },
      scope,
    )
    const { slot } = scope.declare(name, made.type)
    if (value !== undefined || isValueType(made.type))
      body.push({ s: "run", on: { k: "set", slot, value: made.node } })
    // Slots are reused by loops, so a variable without a value must not keep the one of an earlier repetition.
    else body.push({ s: "run", on: { k: "set", slot, value: { k: "const", type: "null", value: null } } })
  }
  return body.length === 1 ? (body[0] as CsStatement) : { s: "block", body }
}

/** The value of a declaration. With `var` the type is that of the value. */
function declaredValue(
  type: CsType | undefined,
  value: ExpressionSyntax | undefined,
  place: { start: number; end: number },
  scope: Scope,
): Typed {
  if (value === undefined) {
    if (type === undefined)
      throw new CsharpMistake(
        "type",
        "`var` needs a value",
        place.start,
        place.end,
        "Write the type, or assign a value.",
      )
    // The zero of a tuple consists of those of its parts.
    if (type.name === "ValueTuple")
      return scope.rules.expression({ kind: "default", type: undefined, ...place }, scope, type)
    const [zero] = isValueType(type) ? candidates(type, "default", "method", true) : []
    const node: CsNode =
      zero === undefined
        ? { k: "const", type: "null", value: null }
        : { k: "call", member: zero.member.id, args: [] }
    return typed(node, type)
  }
  // A lambda has no type of its own; the declared one decides its parameters.
  if (type !== undefined && value.kind === "lambda") {
    const made = scope.rules.delegate(value, type, scope)
    if (made !== undefined) return typed(made, type)
  }
  const found = scope.rules.expression(value, scope, type)
  if (type !== undefined) return typed(demand(found, type, value), type)
  if (found.type.name === "null" || found.type.name === "void")
    throw new CsharpMistake(
      "type",
      "the type of this variable is not known",
      value.start,
      value.end,
      "Write the type instead of `var`.",
    )
  return found
}

/** `for` becomes `while`: the declarations are statements before it. */
function checkFor({ begin, test, step, body }: Of<"for">, scope: Scope): CsStatement {
  const inner = scope.inner()
  const first = begin.map((statement) => checkStatement(statement, inner))
  const asked: CsNode =
    test === undefined ? { k: "const", type: "bool", value: true } : condition(test, inner)
  const steps = step.map((expression) => inner.rules.expression(expression, inner).node)
  const loop: CsStatement = {
    // `step` runs after `continue` too, so it cannot simply be the last statement of the body.
    s: "while",
    test: asked,
    body: checkStatement(body, inner.inner()),
    step: steps,
    first: false,
  }
  return { s: "block", body: [...first, loop] }
}

/** `foreach`. Elements are cast when the declared type differs from the type of the sequence. */
function checkEach({ type: written, name, over, body }: Of<"each">, scope: Scope): CsStatement {
  const list = asSequence(scope.operand(over), undefined)
  const element = elementOf(list.type)
  if (element === undefined)
    throw new CsharpMistake(
      "type",
      `\`${printType(list.type)}\` is not a sequence`,
      over.start,
      over.end,
      "Use a list, array, dictionary, string or JSON value.",
    )
  const inner = scope.inner()
  const type = written === undefined ? element : resolveType(written)
  const variable = inner.declare(name, type)
  const each = { s: "each", slot: variable.slot, over: list.node, type: printType(type) } as const
  // `foreach (string x in list)` over objects casts each of them, and may fail.
  const cast = explicit(typed({ k: "local", slot: variable.slot }, element), type)
  const made = checkStatement(body, inner)
  if (cast === undefined || cast.k === "local") return { ...each, body: made }
  return {
    ...each,
    body: { s: "block", body: [{ s: "run", on: { k: "set", slot: variable.slot, value: cast } }, made] },
  }
}

function elementOf(type: CsType): CsType | undefined {
  if (type.name === "dynamic") return types.dynamic
  // Elements of `object` are dynamic, because published policies call members of JSON that they know only as `object`.
  if (type.name === "object") return types.dynamic
  return lineage(type).find((base) => base.name === "IEnumerable")?.args[0]
}

/** `switch`: the value is kept in a slot, because every case tests it. */
function checkSwitchStatement({ on, cases }: Of<"switch">, scope: Scope): CsStatement {
  const value = scope.rules.expression(on, scope)
  const inner = scope.inner()
  // A slot without a name: the program cannot reach it.
  const slot = inner.place()
  const held = typed({ k: "local", slot }, value.type)
  const made = cases.map((one) => checkCase(held, one, inner.inner()))
  return {
    s: "block",
    body: [
      { s: "run", on: { k: "set", slot, value: value.node } },
      { s: "switch", cases: made },
    ],
  }
}

/** The labels of a case are alternatives; a guard applies to all of them. */
function checkCase(
  held: Typed,
  { labels, when, body }: SwitchCase,
  scope: Scope,
): { test?: CsNode; body: CsStatement[] } {
  const tests = labels.flatMap((label) => (label === undefined ? [] : [checkPattern(held, label, scope)]))
  const either = tests.reduce<CsNode | undefined>(
    (left, right) => (left === undefined ? right : { k: "binary", op: "||", type: "bool", left, right }),
    undefined,
  )
  const guard = when === undefined ? undefined : demand(scope.rules.expression(when, scope), types.bool, when)
  const test: CsNode | undefined =
    either !== undefined && guard !== undefined
      ? { k: "binary", op: "&&", type: "bool", left: either, right: guard }
      : either
  const statements = checkStatements(body, scope)
  // `default` with other labels matches everything, whatever they are.
  return labels.includes(undefined) || test === undefined ? { body: statements } : { test, body: statements }
}

/** The type is checked when all `return` are known. */
function checkReturn({ on, start, end }: Of<"return" | "throw">, scope: Scope): CsStatement {
  if (on === undefined) return { s: "return" }
  const value = scope.rules.expression(on, scope)
  if (value.type.name === "void")
    throw new CsharpMistake("type", "there is no value to return", on.start, on.end, "Return a value.")
  const statement: Extract<CsStatement, { s: "return" }> = { s: "return", on: value.node }
  // The node is completed later, when the common type of all `return` is known.
  scope.returns.push({ statement, type: value.type, start, end })
  return statement
}

/** Without a type, a `catch` handles every exception. */
function checkTry({ body, catches, last }: Of<"try">, scope: Scope): CsStatement {
  return {
    s: "try",
    body: checkBlock(body, scope),
    catches: catches.map((clause) => {
      const inner = scope.inner()
      const type = clause.type === undefined ? named("Exception") : resolveType(clause.type)
      // Only exceptions can be thrown, so another type is a mistake in its name.
      if (typeInfo(type.name)?.bases === undefined || !lineage(type).some(({ name }) => name === "Exception"))
        throw new CsharpMistake(
          "type",
          `\`${printType(type)}\` is not an exception`,
          clause.body.start,
          clause.body.start + 1,
          "Catch `Exception` or a type derived from it.",
        )
      const slot = clause.name === undefined ? undefined : inner.declare(clause.name, type).slot
      const when =
        clause.when === undefined
          ? undefined
          : demand(inner.rules.expression(clause.when, inner), types.bool, clause.when)
      return {
        type: type.name,
        ...(slot === undefined ? {} : { slot }),
        ...(when === undefined ? {} : { when }),
        body: checkBlock(clause.body, inner),
      }
    }),
    ...(last === undefined ? {} : { finally: checkBlock(last, scope) }),
  }
}

/** Whether the code after a statement is unreachable: it returns, throws, or loops forever. */
export function neverEnds(statement: StatementSyntax): boolean {
  switch (statement.kind) {
    case "return":
    case "throw":
      return true
    case "block":
      return statement.body.some(neverEnds)
    case "if":
      return statement.no !== undefined && neverEnds(statement.yes) && neverEnds(statement.no)
    case "while":
      return (
        // `do` runs its body once whatever the condition says.
        (statement.test.kind === "literal" && statement.test.value === true) ||
        (statement.first && neverEnds(statement.body))
      )
    case "for":
      // `break` is not looked for: at worst a finding about a missing `return` is left out.
      return statement.test === undefined
    case "try":
      return (
        (neverEnds(statement.body) && statement.catches.every(({ body }) => neverEnds(body))) ||
        (statement.last !== undefined && neverEnds(statement.last))
      )
    case "switch":
      return (
        statement.cases.some(({ labels }) => labels.includes(undefined)) &&
        statement.cases.every(({ body }) => body.some(neverEnds))
      )
    case "using":
      return neverEnds(statement.body)
    default:
      return false
  }
}
