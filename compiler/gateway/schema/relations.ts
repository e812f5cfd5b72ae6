import { type ArgumentPattern, oneOf, optional, type StatementRow, slot, word } from "./row.ts"

/** The store whose tuples a statement changes. */
export const inStore: ArgumentPattern = optional(word("in"), slot("store", "reference", { to: ["store"] }))
const decider: ArgumentPattern = optional(
  oneOf(
    [word("in"), slot("store", "reference", { to: ["store"] })],
    [word("by"), slot("pdp", "reference", { to: ["pdp"] })],
  ),
)
/** The arguments after the relation: object, user, and what answers the question. */
export const asked: readonly ArgumentPattern[] = [
  word("of"),
  slot("object", "text"),
  word("for"),
  slot("user", "text"),
  decider,
]

/** A line of `require any` or `require all`. */
export const anyRow: StatementRow = {
  keyword: "RELATION",
  several: true,
  forms: [{ args: asked, block: "question" }],
  docs: "A relation: with `any` one of the block is enough, with `all` every one is required.",
  example: 'viewer of "order:${path.id}" for "user:${jwt.sub}"',
}

function propertyRow(of: "subject" | "resource" | "action", what: string, example: string): StatementRow {
  return {
    keyword: of,
    several: 100,
    forms: [{ args: [slot("name", "claim", { max: 256 }), slot("value", "expression")] }],
    docs: `A property of ${what}, for a decision point (AuthZEN \`${of}.properties\`).`,
    example: `${of} ${example}`,
  }
}

export const questionRows: readonly StatementRow[] = [
  {
    keyword: "context",
    several: 100,
    forms: [{ args: [slot("name", "claim", { max: 256 }), slot("value", "expression")] }],
    docs: "A value for the conditions of the model. For a decision point, a member of `context`.",
    example: "context ip (request.ip)",
  },
  {
    keyword: "tuple",
    several: 20,
    forms: [{ args: [slot("user", "quoted"), slot("relation", "relation"), slot("object", "quoted")] }],
    docs: "A contextual tuple: it counts for this check only.",
    example: 'tuple "user:${jwt.sub}" member "team:${jwt.team}"',
  },
  propertyRow("subject", "the caller", "department (jwt.department)"),
  propertyRow("resource", "the object of the check", "status (item.status)"),
  propertyRow("action", "the action", "method (request.method)"),
]
