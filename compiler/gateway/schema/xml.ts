import { type StatementRow, slot, word } from "./row.ts"

/** `policy xml "FILE"` in every scope. */
export const policyXml: StatementRow = {
  keyword: "policy",
  forms: [{ args: [word("xml"), slot("path", "constant")] }],
  docs: "An XML policy document of Azure API Management, compiled like everything else. `<base />` stands for the documents of outer blocks.",
  example: 'policy xml "models/catalog.policy.xml"',
}

/** Declarations for policy documents that gateway.conf itself does not need. */
export const xmlRows: readonly StatementRow[] = [
  {
    keyword: "fragment",
    several: 1000,
    forms: [
      { args: [slot("id", "constant", { label: '"ID"' }), slot("path", "constant", { label: '"FILE"' })] },
    ],
    docs: 'The file that `<include-fragment fragment-id="ID" />` inserts.',
    example: 'fragment "session" "models/session.fragment.xml"',
  },
  {
    keyword: "schema",
    several: 1000,
    forms: [
      { args: [slot("id", "constant", { label: '"ID"' }), slot("path", "constant", { label: '"FILE"' })] },
    ],
    docs: 'The file with the JSON Schema for `<content schema-id="ID" />`; `schema-ref` selects a part of it.',
    example: 'schema "order" "models/order.schema.json"',
  },
  {
    keyword: "backend",
    several: 1000,
    forms: [
      {
        args: [slot("id", "constant", { label: '"ID"' }), slot("backend", "reference", { to: ["backend"] })],
      },
    ],
    docs: 'Maps the backend id of documents to a declared backend: `<set-backend-service backend-id="ID" />`.',
    example: 'backend "orders.v1" orders_v1',
  },
  {
    keyword: "value",
    several: 1000,
    forms: [
      {
        args: [
          slot("id", "constant", { label: '"NAME"' }),
          slot("value", "reference", { to: ["value", "secret"] }),
        ],
      },
    ],
    docs: "The value or secret for `{{NAME}}` if it has another name. `.` and `-` in NAME become `_` automatically.",
    example: 'value "Orders.Url" orders_url',
  },
]

/** The block of `xmlRows`. */
export const xml: StatementRow = {
  keyword: "xml",
  forms: [{ args: [], block: "xml", blockRequired: true }],
  docs: "What XML policy documents refer to: files of fragments and schemas, and the names they use for backends, values and credentials.",
  example: 'xml { fragment "session" "models/session.fragment.xml" }',
}
