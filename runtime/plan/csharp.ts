import * as z from "zod"

/** Limits on the nodes of one program and on their depth. The compiler's output stays far below them. */
const nodesMax = 20_000
const depthMax = 400

const slot = z.number().int().min(0).max(4095)
const typeName = z.string().min(1).max(500)
const memberName = z.string().min(1).max(500)
const at = z.number().int().min(0).optional()

/**
 * An expression of a typed C# program. `k` is its kind; `slot` numbers a place of the frame, which all functions of the program share.
 * `member` is an entry of the library (`string.Substring(int,int)`), `type` a type in C#'s notation, `at` an offset in the source of the
 * expression, for messages.
 */
export type CsNode =
  | { k: "const"; type: string; value: string | number | boolean | null }
  | { k: "named"; kind: "value" | "secret"; name: string }
  | { k: "context" }
  | { k: "local"; slot: number }
  | { k: "set"; slot: number; value: CsNode }
  | { k: "out"; slot: number }
  | {
      k: "call"
      member: string
      on?: CsNode | undefined
      args: CsNode[]
      types?: string[] | undefined
      at?: number | undefined
    }
  | {
      k: "late"
      name: string
      form: "get" | "method" | "index"
      on: CsNode
      args: CsNode[]
      at?: number | undefined
    }
  | { k: "invoke"; on: CsNode; args: CsNode[]; at?: number | undefined }
  | { k: "binary"; op: string; type: string; left: CsNode; right: CsNode }
  | { k: "unary"; op: string; type: string; on: CsNode }
  | { k: "concat"; parts: CsNode[] }
  | {
      k: "format"
      parts: { on: CsNode; align?: number | undefined; format?: string | undefined; type: string }[]
    }
  | { k: "if"; test: CsNode; yes: CsNode; no: CsNode }
  | { k: "convert"; from: string; to: string; on: CsNode }
  | { k: "is"; type: string; on: CsNode; slot?: number | undefined }
  | { k: "as"; type: string; on: CsNode }
  | { k: "safe"; slot: number; on: CsNode; then: CsNode }
  | { k: "sequence"; first: CsNode; rest: CsNode[]; keep: "first" | "last" }
  | { k: "array"; type: string; items: CsNode[] }
  | { k: "new-array"; type: string; length: CsNode }
  | { k: "anonymous"; names: string[]; items: CsNode[] }
  | { k: "field"; name: string; on: CsNode }
  | { k: "lambda"; params: number[]; from: number; to: number; body: CsNode | CsStatement }
  | { k: "throw"; on: CsNode }

/** A statement of a program. `while` runs `step` after each round and, with `first`, its body before the first test. */
export type CsStatement =
  | { s: "run"; on: CsNode }
  | { s: "block"; body: CsStatement[] }
  | { s: "if"; test: CsNode; yes: CsStatement; no?: CsStatement | undefined }
  | { s: "while"; test: CsNode; body: CsStatement; step: CsNode[]; first: boolean }
  | { s: "each"; slot: number; over: CsNode; type: string; body: CsStatement }
  | { s: "switch"; cases: { test?: CsNode | undefined; body: CsStatement[] }[] }
  | { s: "return"; on?: CsNode | undefined }
  | { s: "throw"; on?: CsNode | undefined }
  | { s: "break" }
  | { s: "continue" }
  | {
      s: "try"
      body: CsStatement
      catches: { type: string; slot?: number | undefined; when?: CsNode | undefined; body: CsStatement }[]
      finally?: CsStatement | undefined
    }

// The first program that is read creates the node schemas: most plans have no program, and these are a tenth of the cost of all schemas.
const node: z.ZodType<CsNode> = z.lazy(() => z.discriminatedUnion("k", [...valueNodes(), ...shapeNodes()]))
const nodes = z.array(node).max(nodesMax)
const statement: z.ZodType<CsStatement> = z.lazy(() =>
  z.discriminatedUnion("s", [...simpleStatements(), ...nestedStatements()]),
)
const statements = z.array(statement).max(nodesMax)
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

const valueNodes = () =>
  [
    z.strictObject({ k: z.literal("const"), type: typeName, value: scalar }),
    z.strictObject({ k: z.literal("named"), kind: z.enum(["value", "secret"]), name: z.string().min(1) }),
    z.strictObject({ k: z.literal("context") }),
    z.strictObject({ k: z.literal("local"), slot }),
    z.strictObject({ k: z.literal("set"), slot, value: node }),
    z.strictObject({ k: z.literal("out"), slot }),
    z.strictObject({
      k: z.literal("call"),
      member: memberName,
      on: node.optional(),
      args: nodes,
      types: z.array(typeName).optional(),
      at,
    }),
    z.strictObject({
      k: z.literal("late"),
      name: memberName,
      form: z.enum(["get", "method", "index"]),
      on: node,
      args: nodes,
      at,
    }),
    z.strictObject({ k: z.literal("invoke"), on: node, args: nodes, at }),
    z.strictObject({
      k: z.literal("binary"),
      op: z.string().max(3),
      type: typeName,
      left: node,
      right: node,
    }),
    z.strictObject({ k: z.literal("unary"), op: z.string().max(3), type: typeName, on: node }),
  ] as const

const shapeNodes = () =>
  [
    z.strictObject({ k: z.literal("concat"), parts: nodes }),
    z.strictObject({
      k: z.literal("format"),
      parts: z.array(
        z.strictObject({
          on: node,
          align: z.number().int().optional(),
          format: z.string().optional(),
          type: typeName,
        }),
      ),
    }),
    z.strictObject({ k: z.literal("if"), test: node, yes: node, no: node }),
    z.strictObject({ k: z.literal("convert"), from: typeName, to: typeName, on: node }),
    z.strictObject({ k: z.literal("is"), type: typeName, on: node, slot: slot.optional() }),
    z.strictObject({ k: z.literal("as"), type: typeName, on: node }),
    // biome-ignore lint/suspicious/noThenProperty: a plan is data, never awaited.
    z.strictObject({ k: z.literal("safe"), slot, on: node, then: node }),
    z.strictObject({ k: z.literal("sequence"), first: node, rest: nodes, keep: z.enum(["first", "last"]) }),
    z.strictObject({ k: z.literal("array"), type: typeName, items: nodes }),
    z.strictObject({ k: z.literal("new-array"), type: typeName, length: node }),
    z.strictObject({ k: z.literal("anonymous"), names: z.array(z.string()), items: nodes }),
    z.strictObject({ k: z.literal("field"), name: z.string(), on: node }),
    z.strictObject({
      k: z.literal("lambda"),
      params: z.array(slot),
      from: slot,
      to: slot,
      body: z.union([node, statement]),
    }),
    z.strictObject({ k: z.literal("throw"), on: node }),
  ] as const

const simpleStatements = () =>
  [
    z.strictObject({ s: z.literal("run"), on: node }),
    z.strictObject({ s: z.literal("return"), on: node.optional() }),
    z.strictObject({ s: z.literal("throw"), on: node.optional() }),
    z.strictObject({ s: z.literal("break") }),
    z.strictObject({ s: z.literal("continue") }),
  ] as const

const nestedStatements = () =>
  [
    z.strictObject({ s: z.literal("block"), body: statements }),
    z.strictObject({ s: z.literal("if"), test: node, yes: statement, no: statement.optional() }),
    z.strictObject({ s: z.literal("while"), test: node, body: statement, step: nodes, first: z.boolean() }),
    z.strictObject({ s: z.literal("each"), slot, over: node, type: typeName, body: statement }),
    z.strictObject({
      s: z.literal("switch"),
      cases: z.array(z.strictObject({ test: node.optional(), body: statements })),
    }),
    z.strictObject({
      s: z.literal("try"),
      body: statement,
      catches: z.array(
        z.strictObject({ type: typeName, slot: slot.optional(), when: node.optional(), body: statement }),
      ),
      finally: statement.optional(),
    }),
  ] as const

/** Whether a tree is small enough for recursive functions. The default limits accept every program that a plan can contain. */
export function isBounded(value: unknown, levels = depthMax * 2, values = nodesMax * 4): boolean {
  const waiting: (readonly [unknown, number])[] = [[value, 0]]
  let count = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [at, depth] = next
    if (depth > levels || ++count > values) return false
    if (typeof at === "object" && at !== null)
      for (const child of Object.values(at)) waiting.push([child, depth + 1])
  }
  return true
}

const body = z
  .unknown()
  .superRefine((value, context) => {
    if (!isBounded(value)) context.addIssue({ code: "custom", message: "is too large or nested too deeply" })
  })
  .pipe(z.union([node, statement]))

/**
 * A compiled policy expression. `body` is an expression, or a statement that returns. `slots` is the size of the frame. `needs` names the bodies that
 * must be read before it runs: 1 the request's, 2 the response's, 3 both.
 */
export const csharpProgram = z.strictObject({
  slots: z.number().int().min(1).max(4096),
  needs: z.number().int().min(0).max(3),
  body,
})
export type CsharpProgram = z.infer<typeof csharpProgram>
