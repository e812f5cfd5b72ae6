import { oneOf, optional, type Part, type Row, slot, word } from "./row.ts"

const inStore: Part = optional(word("in"), slot("store", "reference", { to: ["store"] }))
const decider: Part = optional(
  oneOf(
    [word("in"), slot("store", "reference", { to: ["store"] })],
    [word("by"), slot("pdp", "reference", { to: ["pdp"] })],
  ),
)
const asked: Part[] = [word("of"), slot("object", "text"), word("for"), slot("user", "text"), decider]

/** `require`: one relation, any of several, or all of them. */
export const requireRow: Row = {
  keyword: "require",
  several: true,
  forms: [
    { args: [slot("relation", "relation"), ...asked], block: "question" },
    { args: [word("any")], block: "require any", blockRequired: true },
    { args: [word("all")], block: "require any", blockRequired: true },
  ],
  docs: "Asks the authorization engine, or a decision point; no is answered 403. With `any` one of the relations in the block is enough, with `all` each is needed; a decision point is asked for them in one request. The store, or the decision point, is named where there are several.",
  example: 'require viewer of "order:${path.id}" for "user:${jwt.sub}"',
}

/** A line of `require any` or `require all`. */
export const anyRow: Row = {
  keyword: "RELATION",
  several: true,
  forms: [{ args: asked, block: "question" }],
  docs: "A relation that is enough, or one of those that are needed.",
  example: 'viewer of "order:${path.id}" for "user:${jwt.sub}"',
}

function propertyRow(of: "subject" | "resource" | "action", what: string, example: string): Row {
  return {
    keyword: of,
    several: 100,
    forms: [{ args: [slot("name", "claim", { max: 256 }), slot("value", "expression")] }],
    docs: `A property of ${what}, for a decision point (AuthZEN \`${of}.properties\`).`,
    example: `${of} ${example}`,
  }
}

export const questionRows: readonly Row[] = [
  {
    keyword: "context",
    several: 100,
    forms: [{ args: [slot("name", "claim", { max: 256 }), slot("value", "expression")] }],
    docs: "A value for the conditions of the model; of a decision point, a member of its `context`.",
    example: "context ip (request.ip)",
  },
  {
    keyword: "tuple",
    several: 20,
    forms: [{ args: [slot("user", "quoted"), slot("relation", "relation"), slot("object", "quoted")] }],
    docs: "A tuple that counts for this question only.",
    example: 'tuple "user:${jwt.sub}" member "team:${jwt.team}"',
  },
  propertyRow("subject", "who asks", "department (jwt.department)"),
  propertyRow("resource", "what is asked about", "status (item.status)"),
  propertyRow("action", "what is done", "method (request.method)"),
]

export const filterRow: Row = {
  keyword: "filter",
  several: true,
  forms: [
    {
      args: [slot("items", "constant", { max: 1024 }), word("by"), slot("relation", "relation"), ...asked],
      block: "question",
    },
  ],
  docs: "Leaves in a JSON answer what the caller may see: of the list at this place (dots walk into objects, `.` is the whole), in its order, by one batch. `item` is the item.",
  example: 'filter "items" by viewer of "order:${item.id}" for "user:${jwt.sub}"',
}

function changeRow(keyword: "grant" | "revoke", joint: "to" | "from"): Row {
  return {
    keyword,
    several: true,
    forms: [
      {
        args: [
          slot("relation", "relation"),
          word("of"),
          slot("object", "text"),
          word(joint),
          slot("user", "text"),
          inStore,
        ],
      },
    ],
    docs:
      keyword === "grant"
        ? "Writes a tuple after the backend said yes (2xx), before its answer goes out. One that is there already is fine; what cannot be written is answered 502, with words that say the backend has done its part."
        : "Deletes a tuple after the backend said yes (2xx), before its answer goes out. One that is gone already is fine; what cannot be deleted is answered 502, with words that say the backend has done its part.",
    example: `${keyword} owner of "order:\${response.body.id}" ${joint} "user:\${jwt.sub}"`,
  }
}

/** What happens to answers by relations. */
export const relationRows: readonly Row[] = [filterRow, changeRow("grant", "to"), changeRow("revoke", "from")]
